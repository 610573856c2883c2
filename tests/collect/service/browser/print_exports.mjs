/** Prints the names that the client exports. */

console.log(JSON.stringify(Object.keys(await import(process.argv[2])).sort()));
