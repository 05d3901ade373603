/** Why a request is not answered. The same for HTTP and for the upgrade to a WebSocket. */

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
    | 'upgrade';
  readonly detail: string;
  readonly headers?: Readonly<Record<string, string>>;
}
