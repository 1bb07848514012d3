import ts from 'typescript'

/** A use of the host where none is allowed. */
export interface Impurity {
  /** `node`: an import from Node. `host`: clock, chance, timers, console, process and the like. */
  readonly kind: 'node' | 'host'
  readonly line: number
  readonly what: string
}

const hostNames = new Set([
  ...['process', 'console', 'Buffer', 'performance', 'crypto', 'fetch', 'require', 'globalThis'],
  ...['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'setImmediate', 'queueMicrotask'],
])
const hostMembers = new Set(['Date.now', 'Math.random'])

/** Every use of the host in one module. The compiler refuses most of them; clock and chance it cannot. */
export function impurities(file: string, text: string): readonly Impurity[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.ES2023, true, ts.ScriptKind.TS)
  const found: Impurity[] = []
  const add = (kind: Impurity['kind'], node: ts.Node, what: string): void => {
    found.push({ kind, line: source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1, what })
  }
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) && ts.isStringLiteral(node.moduleSpecifier)) {
      const { text: specifier } = node.moduleSpecifier
      if (specifier.startsWith('node:')) add('node', node, `imports ${specifier}`)
    }
    if (isArglessDate(node)) add('host', node, 'reads the clock by new Date()')
    if (ts.isPropertyAccessExpression(node) && hostMembers.has(node.getText(source))) {
      add('host', node, `uses ${node.getText(source)}`)
    }
    if (ts.isIdentifier(node) && hostNames.has(node.text) && !isNameOfSomething(node))
      add('host', node, `uses ${node.text}`)
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

function isArglessDate(node: ts.Node): boolean {
  return (
    ts.isNewExpression(node) &&
    node.expression.getText() === 'Date' &&
    (node.arguments === undefined || node.arguments.length === 0)
  )
}

/** Whether an identifier names a property, field or local, rather than the host's global of that name. */
function isNameOfSomething(node: ts.Identifier): boolean {
  const { parent } = node
  if (ts.isPropertyAccessExpression(parent)) return parent.name === node
  if (ts.isQualifiedName(parent)) return parent.right === node
  const named = parent as ts.Node & { readonly name?: ts.Node; readonly propertyName?: ts.Node }
  if (named.name === node && !ts.isShorthandPropertyAssignment(parent)) return !isAmbient(parent)
  if (named.propertyName === node) return true
  return isLocal(node)
}

function isAmbient(declaration: ts.Node): boolean {
  for (let node: ts.Node | undefined = declaration; node !== undefined; node = node.parent) {
    if (ts.canHaveModifiers(node) && ts.getModifiers(node)?.some(({ kind }) => kind === ts.SyntaxKind.DeclareKeyword))
      return true
  }
  return false
}

/** A parameter, variable or destructured name of the same spelling in an enclosing scope hides the host's. */
function isLocal(node: ts.Identifier): boolean {
  for (let scope: ts.Node | undefined = node.parent; scope !== undefined; scope = scope.parent) {
    if (declaresName(scope, node.text)) return true
  }
  return false
}

function declaresName(scope: ts.Node, name: string): boolean {
  if (ts.isFunctionLike(scope) && scope.parameters.some((parameter) => bindsName(parameter.name, name))) return true
  if (!ts.isBlock(scope) && !ts.isSourceFile(scope)) return false
  return scope.statements.some(
    (statement) =>
      ts.isVariableStatement(statement) &&
      !isAmbient(statement) &&
      statement.declarationList.declarations.some((declaration) => bindsName(declaration.name, name)),
  )
}

function bindsName(binding: ts.BindingName, name: string): boolean {
  if (ts.isIdentifier(binding)) return binding.text === name
  return binding.elements.some((element) => ts.isBindingElement(element) && bindsName(element.name, name))
}
