import ts from 'typescript'

/** What the checks want to know of one TypeScript module. */
export interface ModuleFacts {
  readonly file: string
  readonly lines: number
  readonly commentLines: number
  readonly codeLines: number
  readonly functions: readonly FunctionFact[]
  readonly exports: readonly ExportFact[]
  readonly reexports: readonly ReexportFact[]
  /** Every module specifier imported, exported from or imported dynamically. */
  readonly specifiers: readonly string[]
  readonly starExports: number
}

/** A function and its length from first to last line, docstring not counted. */
export interface FunctionFact {
  readonly name: string
  readonly line: number
  readonly lines: number
}

/** A name declared and exported here. */
export interface ExportFact {
  readonly name: string
  readonly documented: boolean
}

/** A name exported here and declared elsewhere. */
export interface ReexportFact {
  readonly name: string
  readonly from: string
}

/** Parses one module. Cost: one syntax tree, no types. */
export function moduleFacts(file: string, text: string): ModuleFacts {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.ES2023, true, ts.ScriptKind.TS)
  const functions: FunctionFact[] = []
  const specifiers: string[] = []
  const visit = (node: ts.Node): void => {
    if (isFunctionWithBody(node)) functions.push(functionFact(source, node))
    const specifier = specifierOf(node)
    if (specifier !== undefined) specifiers.push(specifier)
    ts.forEachChild(node, visit)
  }
  visit(source)
  const exported = source.statements.filter(isExported)
  return {
    file,
    ...lineCounts(source, text),
    functions,
    exports: exported.flatMap((statement) =>
      namesOf(statement).map((name) => ({ name, documented: hasDoc(statement) })),
    ),
    reexports: source.statements.flatMap(reexportsOf),
    specifiers,
    starExports: source.statements.filter((statement) => ts.isExportDeclaration(statement) && !statement.exportClause)
      .length,
  }
}

type FunctionNode =
  | ts.FunctionDeclaration
  | ts.FunctionExpression
  | ts.ArrowFunction
  | ts.MethodDeclaration
  | ts.ConstructorDeclaration
  | ts.AccessorDeclaration

function isFunctionWithBody(node: ts.Node): node is FunctionNode {
  const isFunction =
    ts.isFunctionDeclaration(node) ||
    ts.isFunctionExpression(node) ||
    ts.isArrowFunction(node) ||
    ts.isMethodDeclaration(node) ||
    ts.isConstructorDeclaration(node) ||
    ts.isAccessor(node)
  return isFunction && node.body !== undefined
}

function functionFact(source: ts.SourceFile, node: FunctionNode): FunctionFact {
  const first = source.getLineAndCharacterOfPosition(node.getStart(source)).line
  const last = source.getLineAndCharacterOfPosition(node.getEnd()).line
  const own = node.name?.getText(source)
  const given = ts.isVariableDeclaration(node.parent) ? node.parent.name.getText(source) : undefined
  return { name: own ?? given ?? 'anonymous', line: first + 1, lines: last - first + 1 }
}

function specifierOf(node: ts.Node): string | undefined {
  if ((ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) && node.moduleSpecifier !== undefined) {
    return ts.isStringLiteral(node.moduleSpecifier) ? node.moduleSpecifier.text : undefined
  }
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
    const argument = node.arguments[0]
    return argument !== undefined && ts.isStringLiteral(argument) ? argument.text : undefined
  }
  return undefined
}

function isExported(statement: ts.Statement): boolean {
  return ts.canHaveModifiers(statement)
    ? (ts.getModifiers(statement)?.some((modifier) => modifier.kind === ts.SyntaxKind.ExportKeyword) ?? false)
    : false
}

function namesOf(statement: ts.Statement): readonly string[] {
  if (ts.isVariableStatement(statement)) {
    return statement.declarationList.declarations.map((declaration) => declaration.name.getText())
  }
  const named = statement as ts.Statement & { readonly name?: ts.Identifier }
  return named.name === undefined ? ['default'] : [named.name.text]
}

function hasDoc(statement: ts.Statement): boolean {
  return ts.getJSDocCommentsAndTags(statement).some((doc) => ts.isJSDoc(doc) && commentText(doc) !== '')
}

function commentText(doc: ts.JSDoc): string {
  return (ts.getTextOfJSDocComment(doc.comment) ?? '').trim()
}

function reexportsOf(statement: ts.Statement): readonly ReexportFact[] {
  if (!ts.isExportDeclaration(statement) || statement.exportClause === undefined) return []
  if (!ts.isNamedExports(statement.exportClause) || statement.moduleSpecifier === undefined) return []
  const from = (statement.moduleSpecifier as ts.StringLiteral).text
  return statement.exportClause.elements.map((element) => ({ name: (element.propertyName ?? element.name).text, from }))
}

/** Lines that hold a comment only, and lines that hold code; blank ones are neither. */
function lineCounts(source: ts.SourceFile, text: string): { lines: number; commentLines: number; codeLines: number } {
  const commented = new Set<number>()
  const coded = new Set<number>()
  const scanner = ts.createScanner(ts.ScriptTarget.ES2023, false, ts.LanguageVariant.Standard, text)
  const mark = (into: Set<number>, from: number, to: number): void => {
    const last = source.getLineAndCharacterOfPosition(to).line
    for (let line = source.getLineAndCharacterOfPosition(from).line; line <= last; line += 1) into.add(line)
  }
  for (let kind = scanner.scan(); kind !== ts.SyntaxKind.EndOfFileToken; kind = scanner.scan()) {
    const start = scanner.getTokenStart()
    if (kind === ts.SyntaxKind.SingleLineCommentTrivia || kind === ts.SyntaxKind.MultiLineCommentTrivia) {
      mark(commented, start, scanner.getTokenEnd())
    } else if (kind !== ts.SyntaxKind.WhitespaceTrivia && kind !== ts.SyntaxKind.NewLineTrivia) {
      mark(coded, start, scanner.getTokenEnd())
    }
  }
  const lines = text.endsWith('\n') ? text.split('\n').length - 1 : text.split('\n').length
  return { lines, commentLines: [...commented].filter((line) => !coded.has(line)).length, codeLines: coded.size }
}
