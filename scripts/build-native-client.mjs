#!/usr/bin/env node
// Makes `require('@confluentinc/kafka-javascript')` work: `node scripts/build-native-client.mjs`.
import { pathToFileURL } from 'node:url'
import { clientIsKept, clientLoads, compileClient, fetchPrebuiltClient, restoreClient } from './act/native-client.mjs'
import { runMain, step, StepError } from './act/step-log.mjs'
import { nativeClientSteps } from './plan/native-client-key.mjs'

/** The steps that need no compiler; tells whether the client loads afterwards. */
export async function tryNativeClient() {
  const facts = {
    loads: await clientLoads(),
    cached: clientIsKept(),
    prebuilt: process.env.TIDEMARK_NATIVE_PREBUILT || 'auto',
  }
  const steps = nativeClientSteps(facts)
  if (steps.includes('restore') && (await restoreClient())) return true
  if (steps.includes('prebuilt') && (await fetchPrebuiltClient())) return true
  return facts.loads
}

async function main() {
  await step('native Kafka client: load, a kept build, or the prebuilt binary', async () => {
    return (await tryNativeClient()) ? 'loads' : 'not yet'
  })
  if (await clientLoads()) return
  if (process.env.TIDEMARK_NATIVE_PREBUILT === 'only') {
    throw new StepError('the prebuilt Kafka client cannot be had', 'unset TIDEMARK_NATIVE_PREBUILT to compile it')
  }
  await step('native Kafka client: compile (1-3 minutes, once per machine)', () => compileClient())
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) await runMain(main)
