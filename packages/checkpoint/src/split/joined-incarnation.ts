/** Two server processes as the one that a projection verifies. Opaque to everybody else. */
export function joinProcesses(checkpoints: string, data: string): string {
  return JSON.stringify([checkpoints, data])
}

/** The two processes of a joined text; of any other text, that text on both sides, which no server answers to. */
export function splitProcesses(text: string): { readonly checkpoints: string; readonly data: string } {
  try {
    const parts: unknown = JSON.parse(text)
    if (Array.isArray(parts) && parts.length === 2 && parts.every((part) => typeof part === 'string')) {
      const [checkpoints, data] = parts as [string, string]
      return { checkpoints, data }
    }
  } catch {
    // Not a joined text; what is returned below names no process of either server.
  }
  return { checkpoints: text, data: text }
}

const isNonce = (text: string): boolean => /^[0-9a-f]{32}$/.test(text)

/** Both stored nonces as one: gone as soon as one of them is, another as soon as one of them is. */
export function joinNonces(checkpoints: string | undefined, data: string | undefined): string | undefined {
  if (checkpoints === undefined || data === undefined) return undefined
  if (!isNonce(checkpoints) || !isNonce(data)) return `${checkpoints}+${data}`
  const both = BigInt(`0x${checkpoints}`) ^ BigInt(`0x${data}`)
  return both.toString(16).padStart(32, '0')
}
