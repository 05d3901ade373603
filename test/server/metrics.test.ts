/** Health, readiness and metrics of a server. */
import { describe, expect, it } from 'vitest';
import type { RouteRequest, Services } from '../../src/server/http/route.js';
import { allRoutes } from '../../src/server/http/routes/all-routes.js';
import { PrometheusMeter } from '../../src/server/metrics/prometheus-meter.js';
import { MemoryStorage } from '../../src/storage/memory/memory-storage.js';
import { serverKit } from './server-kit.js';

describe('GET /ready', () => {
  it('answers without a token while the store answers', async () => {
    const kit = await serverKit();
    expect(await kit.get('/ready', { Authorization: null })).toMatchObject({
      status: 200,
      json: { status: 'ready' },
    });
  });

  it('is 503 with the code while the store fails, and does not name its place', async () => {
    const backend = new MemoryStorage();
    const kit = await serverKit({ backend });
    backend.documents.modifiedMs = () => Promise.reject(new Error('connect to db.internal failed'));
    const answer = await kit.get('/ready', { Authorization: null });
    expect(answer.status).toBe(503);
    expect(answer.text).not.toContain('db.internal');
    expect(answer.json['detail']).toBe('The store does not answer: UNEXPECTED.');
  });

  it('looks once for requests of the same moment, and again for later ones', async () => {
    const backend = new MemoryStorage();
    const ready = allRoutes.find(({ path }) => path === '/ready')!;
    const services = { backend, closing: new AbortController().signal } as Partial<Services> as Services;
    const ask = () => ready.handle({} as RouteRequest, services);
    let looks = 0;
    const answers: ((found: null) => void)[] = [];
    backend.documents.modifiedMs = () => {
      looks += 1;
      return new Promise((resolve) => answers.push(resolve));
    };
    const asked = [ask(), ask(), ask()];
    expect(looks).toBe(1);
    answers[0]!(null);
    expect((await Promise.all(asked)).map(({ status }) => status)).toEqual([200, 200, 200]);
    const later = ask();
    expect(looks).toBe(2);
    answers[1]!(null);
    expect((await later).status).toBe(200);
  });
});

describe('GET /metrics', () => {
  it('gives counters and histograms of requests and of the store as text', async () => {
    const kit = await serverKit({ metrics: true });
    await kit.put('plan', { steps: 3 });
    const { status, headers, text } = await kit.get('/metrics');
    expect(status).toBe(200);
    expect(headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(text).toMatch(/^# TYPE http_server_request_duration_seconds histogram$/m);
    expect(text).toMatch(
      /^http_server_request_duration_seconds_count\{http_request_method="PUT",http_response_status_code="200",http_route="\/sessions\/\{id\}\/state\/keys\/\{key\}"\} 1$/m,
    );
    expect(text).toMatch(
      /^rekindle_operation_duration_seconds_count\{.*rekindle_operation="append"\} [1-9]\d*$/m,
    );
    expect(text).toMatch(/^rekindle_records_total\{rekindle_area="\w+"\} [1-9]\d*$/m);
  });

  it('needs a token with access to everything', async () => {
    const kit = await serverKit({ metrics: true });
    expect((await kit.get('/metrics', { Authorization: null })).status).toBe(401);
  });

  it('is 404 with the way to turn it on where the server keeps none', async () => {
    const kit = await serverKit();
    const answer = await kit.get('/metrics');
    expect(answer.status).toBe(404);
    expect(answer.json['detail']).toContain('--metrics');
  });
});

describe('the text of metrics', () => {
  it('has cumulative buckets, and labels whose quotes, backslashes and line ends are escaped', () => {
    const meter = new PrometheusMeter();
    const advice = { explicitBucketBoundaries: [1, 5] };
    const waits = meter.createHistogram('queue.wait', { description: 'Waits', unit: 's', advice });
    for (const value of [0.5, 1, 3, 9]) waits.record(value, { kind: 'a"b\\c\nd' });
    meter.createCounter('jobs', { description: 'Jobs' }).add(2, {});
    expect(meter.text()).toBe(
      [
        '# HELP queue_wait_seconds Waits',
        '# TYPE queue_wait_seconds histogram',
        'queue_wait_seconds_bucket{kind="a\\"b\\\\c\\nd",le="1"} 2',
        'queue_wait_seconds_bucket{kind="a\\"b\\\\c\\nd",le="5"} 3',
        'queue_wait_seconds_bucket{kind="a\\"b\\\\c\\nd",le="+Inf"} 4',
        'queue_wait_seconds_sum{kind="a\\"b\\\\c\\nd"} 13.5',
        'queue_wait_seconds_count{kind="a\\"b\\\\c\\nd"} 4',
        '# HELP jobs_total Jobs',
        '# TYPE jobs_total counter',
        'jobs_total 2',
        '',
      ].join('\n'),
    );
  });
});
