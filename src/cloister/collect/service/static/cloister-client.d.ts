/** The client of Cloister collections for browsers. Answers are perturbed here, and nothing else leaves. */

export interface Question {
  readonly name: string;
  readonly text: string;
  /** What it may be answered with, in this order; "" is no answer. */
  readonly values: readonly string[];
  /** Whether the last value, "(other)", stands for whatever is not listed. */
  readonly other: boolean;
  /** What an answer costs, as a fraction: "1", "1/2". */
  readonly epsilon: string;
  readonly protocol: "randomized-response" | "unary";
}

export interface Collection {
  readonly id: string;
  readonly title: string;
  readonly collector: string;
  readonly opens: string | null;
  readonly closes: string | null;
  readonly state: "open" | "not yet" | "closed";
  readonly participation: "open" | "invited";
  /** A hash of the questions, values, epsilons and protocols; it stands in each report. */
  readonly terms: string;
  readonly epsilon: string;
  readonly questions: readonly Question[];
}

export interface KeptReport {
  /** "pending": to be sent; "sent": it was received; "refused": see problem. */
  readonly state: "pending" | "sent" | "refused";
  /** The exact text that is sent. */
  readonly body: string;
  readonly problem: { readonly type: string; readonly detail: string } | null;
}

export interface RespondentOptions {
  /** The address of the service, such as "https://survey.example"; "" for the page's own. */
  service: string;
  /** The id of the collection. */
  id: string;
  /** The code of an invitation, where one is needed. */
  code?: string | null;
  /** The terms that were agreed to: a collection with others is refused. Without them the service decides what is asked, and at which epsilon. */
  terms?: string;
  /** A collection that was fetched before. */
  collection?: Collection;
}

export type Answers = Readonly<Record<string, string | number | boolean | null>> | ReadonlyMap<string, string>;

/** What went wrong, for people; `type` is for programs: "answer", "code", "collection", "insecure", "network", "storage", or the service's own. */
export class ClientError extends Error {
  readonly type: string;
  /** The status of the service's answer; 0 where there was none. */
  readonly status: number;
}

/**
 * One person's part in a collection, in this browser. Fires "change" (a CustomEvent of KeptReport) when the state of the report changes or is looked up
 * for sending, and "failure" (a CustomEvent of ClientError) when sending by itself has stopped, such as when another tab made the browser forget.
 */
export class Respondent extends EventTarget {
  static open(options: RespondentOptions): Promise<Respondent>;
  readonly collection: Collection;
  code: string | null;
  /** What is kept of the report; null: none was made. */
  kept(): Promise<KeptReport | null>;
  /** Perturb the answers, keep the report, and begin to send it. A second call sends nothing new, unless the first report was refused. */
  answer(answers: Answers): Promise<KeptReport>;
  /** Try to send what is kept, now. It is tried again by itself, also when the network comes back. */
  send(): Promise<KeptReport | null>;
  /** The same where nobody waits for the result: an error is fired as "failure". */
  sendUnwatched(): void;
  /** Stop trying; what is kept stays. */
  close(): void;
}

/** Get a collection from a service, and check that its terms are those of its questions. */
export function fetchCollection(service: string, id: string): Promise<Collection>;
/** The hash that stands in each report. */
export function termsOf(collection: Pick<Collection, "id" | "questions">): Promise<string>;
/** The place of each answer among the values of its question. */
export function codesOf(collection: Pick<Collection, "questions">, answers: Answers): number[];
/** What is sent in place of a true answer; `words` gives so many uniform integers of 64 bits. */
export function perturb(question: Question, code: number, words?: (count: number) => bigint[]): string;
/** The probability that a true answer is sent as it is; null where one bit a value is sent. */
export function truthShare(question: Question): number | null;
/** 1 / (e^epsilon + others) in units of 2^-64, rounded up. */
export function lieUnits(epsilon: string, others: number): bigint;
export function parseFraction(text: string): [bigint, bigint];
/** Uniform integers of 64 bits from the system's randomness. */
export function randomWords(count: number): bigint[];
/** Forget all that this browser remembers of answers and reports: the same answers would cost again. */
export function forgetEverything(): Promise<void>;
