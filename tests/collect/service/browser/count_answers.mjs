/** Perturbs answers many times, and counts how often each value, or each bit, was sent: here in Node, and in pages that import this. */

export function countAnswers(client, { question, code, draws }) {
  const counts = question.values.map(() => 0);
  for (let draw = 0; draw < draws; draw += 1) {
    const sent = client.perturb(question, code);
    if (question.protocol === "unary") {
      for (let place = 0; place < counts.length; place += 1) {
        const byte = parseInt(sent.slice(2 * (place >> 3), 2 * (place >> 3) + 2), 16);
        counts[place] += (byte >> (place & 7)) & 1;
      }
    } else {
      counts[question.values.indexOf(sent)] += 1;
    }
  }
  return counts;
}

if (globalThis.process !== undefined) {
  const { readFileSync } = await import("node:fs");
  const client = await import(process.argv[2]);
  const cases = JSON.parse(readFileSync(0, "utf8"));
  console.log(JSON.stringify(cases.map((each) => countAnswers(client, each))));
}
