/**
 * The client of Cloister collections for browsers: answers are perturbed here, and nothing else leaves.
 *
 * One module without dependencies. Types and documentation: cloister-client.d.ts, docs/collect-service.md.
 *
 * Privacy: what is sent of an answer is decided by comparing uniform 64-bit integers from crypto.getRandomValues with
 * integers that follow from epsilon and the number of values alone. Everything is computed in BigInt: no floating point decides
 * anything. The probabilities are those of Cloister's Python client, to the last bit (test vectors fix both); they are computed
 * here and not taken from the server, so that a server cannot lower them.
 */

const UNIT = 1n << 64n; // probabilities are multiples of 1 / UNIT
const HALF = 1n << 63n;
const VERSION = 1;
const DATABASE = "cloister";
const STORES = ["secret", "answers", "reports"];
const RETRY_MS = [1000, 2000, 5000, 15000, 60000];
const TIMEOUT_MS = 30000;

/** What went wrong, for people; `type` is for programs. */
export class ClientError extends Error {
  constructor(message, type = "client", status = 0) {
    super(message);
    this.name = "ClientError";
    this.type = type;
    this.status = status;
  }
}

// Exact probabilities.

/** A fraction such as "1/2" or "3" as two BigInts, numerator and denominator. */
export function parseFraction(text) {
  const parts = /^([0-9]{1,60})(?:\/([0-9]{1,60}))?$/.exec(text);
  if (parts === null) throw new ClientError("an epsilon is no fraction.", "collection");
  const fraction = [BigInt(parts[1]), BigInt(parts[2] ?? "1")];
  if (fraction[0] <= 0n || fraction[1] <= 0n || fraction[0] > 100n * fraction[1]) {
    throw new ClientError("an epsilon must be above 0 and at most 100.", "collection");
  }
  return fraction;
}

/**
 * 1 / (e^epsilon + others) in units of 2^-64, rounded up: never less than the exact number.
 *
 * e^x is summed in fixed point with rounding down, so that the sum is at most what it should be. Each of the N terms is short by
 * less than e^x N units, and the terms that are left out add up to less than 2 (e^x N + 1), since N > 2 x. The precision is raised until
 * both ends of that interval give the same integer, which ends since e^x of a rational x is not rational.
 */
export function lieUnits(epsilon, others) {
  const [above, below] = parseFraction(epsilon);
  const least = 2n * (above / below + 1n);
  for (let bits = 320n; ; bits *= 2n) {
    let term = 1n << bits;
    let sum = 0n;
    let count = 0n;
    while (term > 0n || count <= least) {
      sum += term;
      count += 1n;
      term = (term * above) / (below * count);
    }
    const power = 3n ** (above / below + 1n); // e^x is below it
    const slack = (count + 4n) * (count * power + 1n);
    const rest = BigInt(others) << bits;
    const low = (UNIT << bits) / (sum + slack + rest);
    const high = (UNIT << bits) / (sum + rest);
    if (low === high) return low + 1n;
  }
}

/** Uniform integers of 64 bits from the system's randomness. */
export function randomWords(count) {
  const bytes = new Uint8Array(8 * count);
  for (let start = 0; start < bytes.length; start += 65536) {
    globalThis.crypto.getRandomValues(bytes.subarray(start, start + 65536));
  }
  const view = new DataView(bytes.buffer);
  return Array.from({ length: count }, (_, place) => view.getBigUint64(8 * place, true));
}

/**
 * What is sent in place of a true answer.
 *
 * @param question a question of a collection
 * @param code the place of the true answer among its values
 * @param words gives so many uniform integers of 64 bits
 */
export function perturb(question, code, words = randomWords) {
  const size = question.values.length;
  if (!Number.isInteger(code) || code < 0 || code >= size) throw new ClientError("an answer is none of the values.", "answer");
  if (question.protocol === "randomized-response") {
    const lie = lieUnits(question.epsilon, size - 1);
    if (lie * BigInt(size) > UNIT) throw new ClientError("an epsilon is too small.", "collection");
    const [drawn] = words(1);
    if (drawn >= BigInt(size - 1) * lie) return question.values[code];
    const other = Number(drawn / lie);
    return question.values[other + (other >= code ? 1 : 0)];
  }
  if (question.protocol === "unary") {
    const exact = lieUnits(question.epsilon, 1);
    const lie = exact < HALF ? exact : HALF;
    const drawn = words(size);
    const bytes = new Uint8Array(Math.ceil(size / 8));
    for (let place = 0; place < size; place += 1) {
      if (drawn[place] < (place === code ? HALF : lie)) bytes[place >> 3] |= 1 << (place & 7);
    }
    return hex(bytes);
  }
  throw new ClientError("a question has a protocol that this client does not know. Reload the page.", "collection");
}

/** The probability that the true value is sent as it is, for people; null where one bit a value is sent. */
export function truthShare(question) {
  if (question.protocol !== "randomized-response") return null;
  const others = question.values.length - 1;
  return Number(((UNIT - BigInt(others) * lieUnits(question.epsilon, others)) * 1000000n) / UNIT) / 1000000;
}

// Collections.

/** Get a collection from a service, and check that its terms are those of its questions. */
export async function fetchCollection(service, id) {
  const response = await request(`${base(service)}/v1/collections/${encodeURIComponent(id)}`, {});
  return checkCollection(await response.json(), id);
}

/** A collection that is the one that was asked for, and whose terms are those of its questions. */
async function checkCollection(collection, id) {
  if (collection.id !== id || (await termsOf(collection)) !== collection.terms) {
    throw new ClientError("the collection's terms are not those of its questions. Do not answer it.", "collection");
  }
  return deepFreeze(collection);
}

/** The hash that stands in each report: what an answer means and costs. */
export async function termsOf(collection) {
  const meant = collection.questions.map((each) => [each.name, each.values, reduced(each.epsilon), each.protocol]);
  const digest = await subtle().digest("SHA-256", utf8(JSON.stringify([collection.id, meant])));
  return hex(new Uint8Array(digest)).slice(0, 32);
}

/** The place of each answer among the values of its question; refuses what is none, and what is missing. */
export function codesOf(collection, answers) {
  const given = new Map(answers instanceof Map ? answers : Object.entries(answers));
  const codes = collection.questions.map((question) => {
    let answer = given.get(question.name);
    given.delete(question.name);
    if (answer === undefined || answer === null) answer = "";
    if (typeof answer === "number" && Number.isSafeInteger(answer)) answer = String(answer);
    if (typeof answer === "boolean") answer = String(answer);
    if (typeof answer !== "string") throw new ClientError(`the answer to "${question.name}" must be a text.`, "answer");
    const code = [answer, answer.trim()].map((text) => question.values.indexOf(text)).find((place) => place >= 0);
    if (code !== undefined) return code;
    if (question.other) return question.values.length - 1;
    throw new ClientError(`the answer to "${question.name}" is missing or none of its values.`, "answer");
  });
  if (given.size > 0) throw new ClientError("an answer is to no question of the collection.", "answer");
  return codes;
}

// What this browser remembers: IndexedDB.

/**
 * What was sent before, by question, values, epsilon and value: the same answer is sent again and costs nothing again.
 *
 * True answers are not readable from it: entries are known by an HMAC whose key cannot be exported. Whoever can run scripts of this
 * page's origin can still try all answers.
 */
class Memory {
  constructor(database, key) {
    this.database = database;
    this.key = key;
  }

  static async open() {
    const database = await new Promise((resolve, reject) => {
      const opening = globalThis.indexedDB.open(DATABASE, 1);
      opening.onupgradeneeded = () => STORES.forEach((name) => opening.result.createObjectStore(name));
      opening.onsuccess = () => resolve(opening.result);
      opening.onerror = () => reject(unavailable());
      opening.onblocked = () => reject(unavailable());
    });
    database.onversionchange = () => database.close();
    const fresh = await subtle().generateKey({ name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
    const memory = new Memory(database, fresh);
    memory.key = await memory.write((stores, done) => {
      stores.secret.get("key").onsuccess = (event) => {
        if (event.target.result === undefined) stores.secret.put(fresh, "key");
        done(event.target.result ?? fresh);
      };
    });
    return memory;
  }

  /** Run work in one transaction that is on the disk when this ends. */
  write(work, mode = "readwrite") {
    return new Promise((resolve, reject) => {
      const transaction = this.begin(mode);
      let result;
      transaction.oncomplete = () => resolve(result);
      transaction.onabort = () => reject(transaction.failure ?? unavailable());
      const stores = Object.fromEntries(STORES.map((name) => [name, transaction.objectStore(name)]));
      work(
        stores,
        (value) => {
          result = value;
        },
        (failure) => {
          transaction.failure = failure;
          transaction.abort();
        },
      );
    });
  }

  begin(mode) {
    try {
      return this.database.transaction(STORES, mode, { durability: "strict" });
    } catch {
      throw new ClientError("what this browser remembered was deleted, perhaps in another tab. Reload the page.", "storage");
    }
  }

  async tag(...words) {
    return hex(new Uint8Array(await subtle().sign("HMAC", this.key, utf8(JSON.stringify(words)))));
  }

  get(key) {
    return this.write((stores, done) => {
      stores.reports.get(key).onsuccess = (event) => done(event.target.result ?? null);
    }, "readonly");
  }

  /** Change what is kept of a report, if it is still the one with this body, and pending. */
  change(key, body, changes) {
    return this.write((stores, done) => {
      stores.reports.get(key).onsuccess = (event) => {
        const kept = event.target.result;
        if (kept?.state !== "pending" || kept.body !== body) return done(kept ?? null);
        const changed = { ...kept, ...changes };
        stores.reports.put(changed, key);
        return done(changed);
      };
    });
  }
}

/**
 * One person's part in a collection, in this browser: answers once, keeps what is to be sent until it was sent.
 *
 *   const respondent = await Respondent.open({ service: "https://survey.example", id: "students-2026" });
 *   await respondent.answer({ smokes: "no", year: "2" });   // perturbed, kept, sent; sent later where there is no network
 */
export class Respondent extends EventTarget {
  constructor(options, collection, memory, key) {
    super();
    this.service = base(options.service);
    this.code = options.code ?? null;
    this.collection = collection;
    this.memory = memory;
    this.key = key;
    this.attempts = 0;
    this.timer = null;
    this.sending = null;
    this.isClosed = false;
    this.onOnline = () => this.sendUnwatched();
    globalThis.addEventListener?.("online", this.onOnline);
  }

  static async open(options) {
    const memory = await Memory.open();
    const collection = options.collection
      ? await checkCollection(structuredClone(options.collection), options.id)
      : await fetchCollection(options.service, options.id);
    if (options.terms !== undefined && options.terms !== collection.terms) {
      throw new ClientError("the collection's terms are not those that were expected. Do not answer it.", "collection");
    }
    // one report a person and collection, which is for this service alone
    const key = await memory.tag("collection", new URL(`${base(options.service)}/`, location.href).href, collection.id, collection.terms);
    const respondent = new Respondent(options, collection, memory, key);
    if ((await respondent.kept())?.state === "pending") respondent.sendUnwatched();
    return respondent;
  }

  /** What is kept of the report: state ("pending", "sent" or "refused"), body, problem; null: none was made. */
  kept() {
    return this.memory.get(this.key);
  }

  /**
   * Perturb the answers, keep the report, and send it.
   *
   * What was answered before stays: a second call sends nothing new. It ends when the report is kept; `send` has begun then.
   */
  async answer(answers) {
    const { collection } = this;
    if (collection.participation === "invited" && !this.code) throw new ClientError("the code of your invitation is missing.", "code");
    const codes = codesOf(collection, answers);
    const tags = await Promise.all(
      collection.questions.map((each, place) => {
        const terms = [each.name, each.values, reduced(each.epsilon), each.protocol];
        return this.memory.tag("answer", terms, each.values[codes[place]]);
      }),
    );
    const kept = await this.memory.write((stores, done, fail) => {
      stores.reports.get(this.key).onsuccess = (event) => {
        const known = event.target.result;
        if (known !== undefined && known.state !== "refused") return done(known); // answered before, perhaps in another tab
        const sent = new Array(tags.length);
        let left = tags.length;
        return tags.forEach((tag, place) => {
          stores.answers.get(tag).onsuccess = (found) => {
            try {
              sent[place] = found.target.result ?? perturb(collection.questions[place], codes[place]);
              stores.answers.put(sent[place], tag);
              left -= 1;
              if (left > 0) return;
              const id = known === undefined ? randomId() : JSON.parse(known.body).report.report; // one a person and collection
              const made = { state: "pending", body: this.body(id, sent), problem: null };
              stores.reports.put(made, this.key);
              done(made);
            } catch (failure) {
              fail(failure);
            }
          };
        });
      };
    });
    this.changed(kept);
    this.sendUnwatched();
    return kept;
  }

  /** The bytes that are sent, as text. */
  body(id, sent) {
    const { collection } = this;
    const answers = Object.create(null); // a question may be called "__proto__"
    collection.questions.forEach((question, place) => {
      answers[question.name] = sent[place];
    });
    const report = { version: VERSION, collection: collection.id, terms: collection.terms, report: id, answers };
    return JSON.stringify(collection.participation === "invited" ? { code: this.code, report } : { report });
  }

  /** Send what is kept, until it was received or refused; the same bytes each time. Resolves after one try. */
  send() {
    this.sending ??= this.trySending().finally(() => {
      this.sending = null;
    });
    return this.sending;
  }

  /** Send where nobody waits for the result: what fails, such as a memory that was deleted in another tab, is an event. */
  sendUnwatched() {
    this.send().catch((failure) => this.dispatchEvent(new CustomEvent("failure", { detail: failure })));
  }

  async trySending() {
    clearTimeout(this.timer);
    const kept = await this.kept();
    if (kept?.state !== "pending") {
      if (kept !== null) this.changed(kept); // another tab may have sent it meanwhile
      return kept;
    }
    try {
      const url = `${this.service}/v1/collections/${encodeURIComponent(this.collection.id)}/reports`;
      const response = await request(url, { method: "POST", headers: { "Content-Type": "application/json" }, body: kept.body });
      if (!(await isReceipt(response, kept.body))) throw new ClientError("something else than the service answered.", "network");
      this.attempts = 0;
      return this.settle(kept.body, { state: "sent", problem: null });
    } catch (failure) {
      const isOurs = failure instanceof ClientError && failure.type.startsWith("urn:cloister:"); // and not of something on the way
      const isFinal = isOurs && failure.status >= 400 && failure.status < 500 && ![408, 425, 429].includes(failure.status);
      if (isFinal) return this.settle(kept.body, { state: "refused", problem: { type: failure.type, detail: failure.message } });
      const wait = Math.max(RETRY_MS[Math.min(this.attempts, RETRY_MS.length - 1)], 1000 * (failure.retryAfter ?? 0));
      this.attempts += 1;
      if (!this.isClosed) this.timer = setTimeout(() => this.sendUnwatched(), wait);
      this.changed(kept);
      return kept;
    }
  }

  async settle(body, changes) {
    const settled = await this.memory.change(this.key, body, changes);
    if (settled !== null) this.changed(settled);
    return settled;
  }

  changed(kept) {
    this.dispatchEvent(new CustomEvent("change", { detail: kept }));
  }

  /** Stop trying; what is kept stays. */
  close() {
    this.isClosed = true;
    clearTimeout(this.timer);
    globalThis.removeEventListener?.("online", this.onOnline);
    this.memory.database.close();
  }
}

/** Forget all that this browser remembers of answers and reports: the same answers would cost again. */
export function forgetEverything() {
  return new Promise((resolve, reject) => {
    const deleting = globalThis.indexedDB.deleteDatabase(DATABASE);
    deleting.onsuccess = () => resolve();
    deleting.onerror = () => reject(unavailable());
  });
}

// Small things.

async function request(url, options) {
  let response;
  try {
    const plain = { credentials: "omit", referrerPolicy: "no-referrer", cache: "no-store", redirect: "error", signal: AbortSignal.timeout(TIMEOUT_MS) };
    response = await fetch(url, { ...plain, ...options });
  } catch {
    throw new ClientError("the service cannot be reached.", "network");
  }
  if (response.ok) return response;
  const problem = (await response.json().catch(() => null)) ?? {};
  const words = typeof problem.detail === "string" ? problem.detail : "the service failed.";
  const failure = new ClientError(words, String(problem.type ?? "http"), response.status);
  failure.retryAfter = Math.min(600, Number(response.headers.get("Retry-After")) || 0);
  throw failure;
}

/** Whether an answer is the service's word that it has stored this very report. */
async function isReceipt(response, body) {
  if (response.status !== 201) return false;
  const answer = await response.json().catch(() => null);
  return answer?.report === JSON.parse(body).report.report;
}

function base(service) {
  return String(service ?? "").replace(/\/+$/, "");
}

function subtle() {
  const found = globalThis.crypto?.subtle;
  if (!found) throw new ClientError("answers are perturbed only on pages that came over https. Open this page with https:// before its address.", "insecure");
  return found;
}

function unavailable() {
  return new ClientError("this browser keeps nothing for this page (a private window, or no space), so nothing can be sent safely.", "storage");
}

function reduced(epsilon) {
  let [above, below] = parseFraction(epsilon);
  let [a, b] = [above, below];
  while (b > 0n) [a, b] = [b, a % b];
  [above, below] = [above / a, below / a];
  return below === 1n ? String(above) : `${above}/${below}`;
}

function randomId() {
  return hex(globalThis.crypto.getRandomValues(new Uint8Array(16)));
}

function hex(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function utf8(text) {
  return new TextEncoder().encode(text);
}

function deepFreeze(value) {
  if (typeof value === "object" && value !== null) Object.values(value).forEach(deepFreeze);
  return Object.freeze(value);
}
