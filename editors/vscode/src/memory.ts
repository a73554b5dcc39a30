/** What the memory tells, as it comes over the wire. */

export interface Item {
  ref: string;
  /** Of a stored record its type, such as "memory"; empty for code and rules, which are files. */
  type: string;
  kind: string;
  title: string;
  text: string;
  score: number;
  tokens: number;
  shown: "full" | "brief" | "index";
  block: string;
  include: string;
  trust: "trusted" | "untrusted";
  reason: string;
  signals: Record<string, number>;
  pinned: "" | "shown" | "kept_out";
  rated: -1 | 0 | 1;
}

export interface Given {
  tokens: number;
  limit: number;
  exact: boolean;
  summary: string;
  items: Item[];
  left_out: Record<string, number>;
  degraded: string;
}

export interface Hit {
  ref: string;
  text: string;
  score: number;
  why: string;
  kind: string;
  past: boolean;
}

export interface Origin {
  ref: string;
  type: string;
  text: string;
  source: string;
  scope: string;
  session: string;
  at: string;
  versions: { ref: string; text: string; at: string; source: string }[];
  ratings: { value: number; note: string; at: string }[];
}

/** The resource that changes when what would be given does. */
export const GIVEN = "ctxmw://context/auto.json";

/** A signal about which nothing is known: it says nothing, and is not shown. */
const UNKNOWN = 0.5;

/** Say why an item is there: the reason, and what its score is made of. */
export function reasonsOf(item: Item): string {
  const signals = Object.entries(item.signals)
    .filter(([, value]) => value !== UNKNOWN)
    .map(([name, value]) => `${name} ${value.toFixed(2)}`);
  return [item.reason, signals.join(", ")].filter(Boolean).join("; ");
}
