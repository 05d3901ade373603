/** Why a request is refused. The same for HTTP and for WebSocket upgrades. */

export interface Refusal {
  readonly status: number;
  readonly reason:
    | 'host'
    | 'origin'
    | 'rate'
    | 'token'
    | 'scope'
    | 'route'
    | 'method'
    | 'media-type'
    | 'size'
    | 'closing'
    | 'not-ready'
    | 'metrics'
    | 'upgrade';
  readonly detail: string;
  readonly headers?: Readonly<Record<string, string>>;
}
