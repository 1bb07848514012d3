const bare = {
  nativeClientLoads: false,
  compilerReady: false,
  redisServer: false,
  javaMajor: undefined,
  kafkaJars: false,
  maven: false,
  debianMajor: '12',
}
const whole = {
  nativeClientLoads: true,
  compilerReady: true,
  redisServer: true,
  javaMajor: 17,
  kafkaJars: true,
  maven: true,
  debianMajor: '12',
}

/**
 * Machines as a newcomer may have them, each with what the bootstrap must decide there.
 *
 * Shape: { name, facts, isRoot, hasApt, mode, decision, asksFor: string[] }.
 */
export const freshMachines = [
  {
    name: 'a fresh Debian 12, as root',
    facts: bare,
    isRoot: true,
    hasApt: true,
    mode: 'auto',
    decision: 'install',
    asksFor: ['g++', 'redis-server', 'openjdk-17-jre-headless', 'maven'],
  },
  {
    name: 'the same, as an ordinary user',
    facts: bare,
    isRoot: false,
    hasApt: true,
    mode: 'auto',
    decision: 'tell',
    asksFor: ['python3', 'make', 'libssl-dev'],
  },
  {
    name: 'the same, told to print only',
    facts: bare,
    isRoot: true,
    hasApt: true,
    mode: 'print',
    decision: 'tell',
    asksFor: ['make'],
  },
  {
    name: 'the same, told never to install',
    facts: bare,
    isRoot: true,
    hasApt: true,
    mode: 'never',
    decision: 'go-without',
    asksFor: ['make'],
  },
  {
    name: 'another system than Debian, as root',
    facts: { ...bare, debianMajor: undefined },
    isRoot: true,
    hasApt: false,
    mode: 'auto',
    decision: 'tell',
    asksFor: ['default-jre-headless'],
  },
  {
    name: 'a Debian 12 with an old Java and the jars',
    facts: { ...whole, javaMajor: 11 },
    isRoot: true,
    hasApt: true,
    mode: 'auto',
    decision: 'install',
    asksFor: ['openjdk-17-jre-headless'],
  },
  {
    name: 'a machine that has everything',
    facts: whole,
    isRoot: false,
    hasApt: true,
    mode: 'auto',
    decision: 'nothing',
    asksFor: [],
  },
]
