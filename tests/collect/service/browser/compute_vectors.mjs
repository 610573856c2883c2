/** Prints what the client computes for the shared vectors, in their order. */

import { readFileSync } from "node:fs";

const client = await import(process.argv[2]);
const vectors = JSON.parse(readFileSync(0, "utf8"));

const units = vectors.lie_units.map(({ epsilon, others }) => String(client.lieUnits(epsilon, others)));
const answers = vectors.answers.map(({ epsilon, size, protocol, code, words }) => {
  const values = Array.from({ length: size }, (_, place) => String(place));
  try {
    return client.perturb({ name: "q", values, epsilon, protocol }, code, (count) => words.slice(0, count).map(BigInt));
  } catch (failure) {
    return failure.message;
  }
});
const terms = await Promise.all(vectors.terms.map((collection) => client.termsOf(collection)));
console.log(JSON.stringify({ lie_units: units, answers, terms }));
