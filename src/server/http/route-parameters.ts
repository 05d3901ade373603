/** Descriptions of the parameters of routes. */
import { type TSchema, Type } from '../../core/schema.js';
import type { RouteParameter } from './route.js';

export function inQuery(name: string, description: string, schema: TSchema = Type.String()): RouteParameter {
  return { name, in: 'query', description, schema };
}

/** A whole number in the query. */
export function wholeInQuery(name: string, description: string, minimum = 0): RouteParameter {
  return inQuery(name, description, Type.Integer({ minimum }));
}

export function inHeader(name: string, description: string): RouteParameter {
  return { name, in: 'header', description, schema: Type.String() };
}
