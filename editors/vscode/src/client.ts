/** Asks the memory over HTTP: one request, one answer, and one stream that tells of changes. */

const VERSION = "2026-07-28";
const CLIENT = { name: "ctxmw-vscode", version: "0.1.0" };

export interface Address {
  url: string;
  token: string;
}

/** What the memory refused, in its own words. */
export class Refused extends Error {}

export class Client {
  private requests = 0;

  constructor(private readonly address: Address) {}

  /** Return the answer to a request such as "ctxmw/pin". */
  async ask<T>(method: string, params: object = {}, ended?: AbortSignal): Promise<T> {
    const response = await this.send(method, params, ended);
    const answer = (await response.json()) as { result?: T; error?: { message: string } };
    if (answer.error) {
      throw new Refused(answer.error.message);
    }
    return answer.result as T;
  }

  /** Call `changed` whenever one of the resources does, until told to end or the server is gone. */
  async listen(uris: string[], changed: () => void, ended: AbortSignal): Promise<void> {
    const wanted = { notifications: { resourceSubscriptions: uris } };
    const response = await this.send("subscriptions/listen", wanted, ended);
    const decoder = new TextDecoder();
    let heard = "";
    for await (const chunk of response.body ?? []) {
      heard += decoder.decode(chunk as Uint8Array, { stream: true });
      const lines = heard.split("\n");
      heard = lines.pop() ?? "";
      if (lines.some((line) => line.includes("notifications/resources/updated"))) {
        changed();
      }
    }
  }

  private async send(method: string, params: object, ended?: AbortSignal): Promise<Response> {
    const meta = {
      "io.modelcontextprotocol/protocolVersion": VERSION,
      "io.modelcontextprotocol/clientCapabilities": {},
      "io.modelcontextprotocol/clientInfo": CLIENT,
    };
    this.requests += 1;
    const request = { jsonrpc: "2.0", id: this.requests, method, params: { ...params, _meta: meta } };
    const response = await fetch(this.address.url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        authorization: `Bearer ${this.address.token}`,
        "mcp-protocol-version": VERSION,
        "mcp-method": method,
      },
      body: JSON.stringify(request),
      signal: ended,
    });
    if (response.status === 401 || response.status === 421) {
      throw new Refused(`the server answered ${response.status}: is another program on its port?`);
    }
    return response;
  }
}
