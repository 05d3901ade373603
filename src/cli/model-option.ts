/** `--model provider:name`: a model of the Vercel AI SDK, loaded from its provider's package. */
import { aiSdkModel } from '../agent/model/ai-sdk/ai-sdk-model.js';
import type { LanguageModel } from '../agent/model/language-model.js';
import { OfflineModel } from '../agent/model/offline-model.js';
import { RekindleError } from '../core/errors.js';

type SdkModel = Parameters<typeof aiSdkModel>[0];

/**
 * `openai:gpt-...` loads `@ai-sdk/openai`, and so on; keys come from the provider's usual environment
 * variable. `openai-compatible:name` uses `OPENAI_BASE_URL` and `OPENAI_API_KEY`. Without a value, or with
 * `offline`: the offline model.
 * @throws INVALID_ARGUMENT, DEPENDENCY_MISSING
 */
export async function modelFor(option: string | undefined): Promise<LanguageModel> {
  if (option === undefined || option === 'offline') return new OfflineModel();
  const colon = option.indexOf(':');
  const provider = option.slice(0, colon);
  const name = option.slice(colon + 1);
  if (colon < 1 || name === '' || !/^[a-z][a-z0-9-]*$/.test(provider)) {
    throw new RekindleError(
      'INVALID_ARGUMENT',
      `--model must be provider:name, such as openai:gpt-5-mini; it is ${JSON.stringify(option)}.`,
      {
        details: { model: option },
      },
    );
  }
  const loaded = await loadProvider(`@ai-sdk/${provider}`);
  return aiSdkModel(
    provider === 'openai-compatible' ? compatibleModel(loaded, name) : providerModel(loaded, provider, name),
  );
}

type Module = { readonly [name: string]: unknown };

async function loadProvider(packageName: string): Promise<Module> {
  try {
    return (await import(packageName)) as Module;
  } catch (cause) {
    throw new RekindleError(
      'DEPENDENCY_MISSING',
      `The package ${packageName} is not installed. Run: npm install ai ${packageName}`,
      {
        details: { package: packageName },
        cause,
      },
    );
  }
}

/** `@ai-sdk/google-vertex` exports `googleVertex` or `vertex`, so the last word is tried, too. */
function providerModel(loaded: Module, provider: string, name: string): SdkModel {
  const camel = provider.replace(/-([a-z0-9])/g, (_, char: string) => char.toUpperCase());
  const make = loaded[camel] ?? loaded[provider.split('-').at(-1)!];
  if (typeof make === 'function') return make(name) as SdkModel;
  throw new RekindleError('INVALID_ARGUMENT', `@ai-sdk/${provider} does not export ${camel}.`, {
    details: { provider },
  });
}

function compatibleModel(loaded: Module, name: string): SdkModel {
  const baseURL = process.env['OPENAI_BASE_URL'];
  if (!baseURL) {
    throw new RekindleError('INVALID_ARGUMENT', 'openai-compatible needs OPENAI_BASE_URL.', {
      details: { variable: 'OPENAI_BASE_URL' },
    });
  }
  const create = loaded['createOpenAICompatible'] as (options: object) => (name: string) => SdkModel;
  const apiKey = process.env['OPENAI_API_KEY'];
  return create({ name: 'openai-compatible', baseURL, ...(apiKey ? { apiKey } : {}) })(name);
}
