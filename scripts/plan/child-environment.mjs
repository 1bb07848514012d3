import { commandFlags } from './command-help.mjs'

/** npm settings that say where packages come from; everything else npm exports to a script is about that one run. */
const kept = new Set([
  'npm_config_registry',
  'npm_config_cache',
  'npm_config_userconfig',
  'npm_config_globalconfig',
  'npm_config_cafile',
  'npm_config_proxy',
  'npm_config_https_proxy',
  'npm_config_noproxy',
  'npm_config_nodedir',
])

/**
 * The environment for child processes: without what `npm test` and `npm run` leave in it.
 *
 * Why: `npm test --offline` (no `--`) exports npm_config_offline, and every npm and pnpm below would refuse to download.
 */
export function childEnvironment(env, additions = {}) {
  const entries = Object.entries(env).filter(([name]) => {
    const lower = name.toLowerCase()
    return !lower.startsWith('npm_') || kept.has(lower)
  })
  return { ...Object.fromEntries(entries), ...additions }
}

/** A hint when a flag of ours was swallowed by npm because the `--` was forgotten, else `undefined`. */
export function swallowedFlagHint(env, script) {
  const command = script === 'test' ? 'npm test' : `npm run ${script}`
  // npm has a help of its own.
  const flags = commandFlags(script).filter((name) => {
    if (name === 'help') return false
    const value = env[`npm_config_${name}`]
    return value !== undefined && value !== '' && value !== 'false'
  })
  if (flags.length === 0) return undefined
  const written = flags.map((name) => `--${name}`).join(' ')
  return `note: npm took ${written} for itself; flags of ours go behind two dashes: ${command} -- ${written}`
}
