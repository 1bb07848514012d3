/** A count with the word that fits it, as it stands in messages: `1 partition`, `2 partitions`, `0 partitions`. */
export function counted(count: bigint | number, one: string, several: string = `${one}s`): string {
  return `${count} ${BigInt(count) === 1n ? one : several}`
}
