import { UsageError } from './usage-error.mjs'

/**
 * The folder name under which a built native client is kept: every part that makes a binary unusable elsewhere.
 *
 * Shape: { clientVersion, platform, arch, nodeAbi, libc }.
 */
export function nativeClientKey({ clientVersion, platform, arch, nodeAbi, libc }) {
  return `kafka-javascript-${clientVersion}-${platform}-${arch}-abi${nodeAbi}-${libc}`
}

/** What to try, in order, to make the client load. `prebuilt` is TIDEMARK_NATIVE_PREBUILT: auto, never or only. */
export function nativeClientSteps({ loads, cached, prebuilt = 'auto' }) {
  if (!['auto', 'never', 'only'].includes(prebuilt)) {
    throw new UsageError(`TIDEMARK_NATIVE_PREBUILT is ${JSON.stringify(prebuilt)}; it must be auto, never or only`)
  }
  if (loads) return []
  return [
    ...(cached ? ['restore'] : []),
    ...(prebuilt === 'never' ? [] : ['prebuilt']),
    ...(prebuilt === 'only' ? [] : ['compile']),
  ]
}
