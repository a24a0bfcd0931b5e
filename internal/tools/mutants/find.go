// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
)

// A mutant is one change in one file.
type mutant struct {
	pkg, function string // relative to the module; "planner.start" for a method
	file          string // its name
	line          int
	change        string // what the line says before and after

	start, end int    // the bytes to replace
	text       string // and by what
}

func (m mutant) String() string {
	return fmt.Sprintf("%s/%s:%d: %s: %s", m.pkg, m.file, m.line, m.function, m.change)
}

// Key names a mutant without its line number, so that the name outlives changes elsewhere in the file.
func (m mutant) key() string { return m.pkg + " " + m.function + "\n" + m.change }

// Planted is the source with the change.
func (m mutant) planted(source []byte) []byte {
	return []byte(string(source[:m.start]) + m.text + string(source[m.end:]))
}

// By which operator another is replaced.
var operators = map[token.Token]token.Token{
	token.EQL: token.NEQ, token.NEQ: token.EQL,
	token.LSS: token.LEQ, token.LEQ: token.LSS,
	token.GTR: token.GEQ, token.GEQ: token.GTR,
	token.LAND: token.LOR, token.LOR: token.LAND,
	token.ADD: token.SUB, token.SUB: token.ADD,
}

// A finder collects the mutants of a file.
type finder struct {
	mutants   []mutant
	pkg, file string
	source    []byte
	files     *token.FileSet
	function  string
	seen      map[string]int
}

// Find returns the mutants of a file, in the order in which they stand.
func find(pkg, file string, source []byte) ([]mutant, error) {
	f := &finder{pkg: pkg, file: file, source: source, files: token.NewFileSet(), seen: map[string]int{}}
	parsed, err := parser.ParseFile(f.files, file, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	for _, d := range parsed.Decls {
		if function, ok := d.(*ast.FuncDecl); ok && function.Body != nil {
			f.function = functionName(function)
			ast.Inspect(function.Body, f.visit)
		}
	}
	return f.mutants, nil
}

func functionName(f *ast.FuncDecl) string {
	if f.Recv == nil || len(f.Recv.List) == 0 {
		return f.Name.Name
	}
	t := f.Recv.List[0].Type
	for {
		switch of := t.(type) {
		case *ast.StarExpr:
			t = of.X
		case *ast.IndexExpr:
			t = of.X
		case *ast.IndexListExpr:
			t = of.X
		case *ast.Ident:
			return of.Name + "." + f.Name.Name
		default:
			return f.Name.Name
		}
	}
}

func (f *finder) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		if other, ok := operators[n.Op]; ok && !(n.Op == token.ADD && (isText(n.X) || isText(n.Y))) {
			f.replace(n.OpPos, n.OpPos+token.Pos(len(n.Op.String())), other.String())
		}
	case *ast.IfStmt:
		if !isComparison(n.Cond) {
			f.replace(n.Cond.Pos(), n.Cond.End(), "!("+f.text(n.Cond.Pos(), n.Cond.End())+")")
		}
	case *ast.BranchStmt:
		switch n.Tok {
		case token.CONTINUE:
			f.replace(n.TokPos, n.TokPos+token.Pos(len("continue")), "break")
		case token.BREAK:
			f.replace(n.TokPos, n.TokPos+token.Pos(len("break")), "continue")
		}
	case *ast.BasicLit:
		switch {
		case n.Kind == token.INT && n.Value == "0":
			f.replace(n.Pos(), n.End(), "1")
		case n.Kind == token.INT && n.Value == "1":
			f.replace(n.Pos(), n.End(), "0")
		}
	case *ast.BlockStmt:
		f.remove(n.List)
	case *ast.CaseClause:
		f.remove(n.Body)
	case *ast.CommClause:
		f.remove(n.Body)
	}
	return true
}

// Remove takes out the statements that can miss: calls, assignments, increments. What is only said in a log stays.
func (f *finder) remove(statements []ast.Stmt) {
	for _, s := range statements {
		switch s := s.(type) {
		case *ast.ExprStmt:
			if !logs(s.X) {
				f.replace(s.Pos(), s.End(), "")
			}
		case *ast.AssignStmt:
			if s.Tok != token.DEFINE {
				f.replace(s.Pos(), s.End(), "")
			}
		case *ast.IncDecStmt:
			f.replace(s.Pos(), s.End(), "")
		}
	}
}

// Replace adds the mutant that has another text between two positions.
func (f *finder) replace(from, to token.Pos, text string) {
	m := mutant{pkg: f.pkg, function: f.function, file: f.file, text: text}
	m.start, m.end = f.files.Position(from).Offset, f.files.Position(to).Offset
	m.line = f.files.Position(from).Line
	m.change = f.change(m)
	// The same change in another line of the function has a number.
	f.seen[m.key()]++
	if n := f.seen[m.key()]; n > 1 {
		m.change += fmt.Sprintf(" (%d)", n)
	}
	f.mutants = append(f.mutants, m)
}

// Change shows the lines of a mutant before and after.
func (f *finder) change(m mutant) string {
	first := strings.LastIndexByte(string(f.source[:m.start]), '\n') + 1
	last := m.end + strings.IndexByte(string(f.source[m.end:])+"\n", '\n')
	before := oneLine(string(f.source[first:last]))
	after := oneLine(string(f.source[first:m.start]) + m.text + string(f.source[m.end:last]))
	if after == "" {
		return "without " + before
	}
	return before + " => " + after
}

func (f *finder) text(from, to token.Pos) string {
	return string(f.source[f.files.Position(from).Offset:f.files.Position(to).Offset])
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

func isText(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.BasicLit:
		return e.Kind == token.STRING
	case *ast.BinaryExpr:
		return isText(e.X) || isText(e.Y)
	}
	return false
}

// The negation of "a == b" is the mutant of its operator.
func isComparison(e ast.Expr) bool {
	b, ok := e.(*ast.BinaryExpr)
	return ok && (b.Op == token.EQL || b.Op == token.NEQ)
}

// Logs reports whether a statement only logs: logger.Info, klog.FromContext(ctx).V(4).Info.
func logs(e ast.Expr) bool {
	for {
		switch of := e.(type) {
		case *ast.CallExpr:
			e = of.Fun
		case *ast.SelectorExpr:
			e = of.X
		case *ast.Ident:
			return of.Name == "klog" || of.Name == "log" || of.Name == "logger"
		default:
			return false
		}
	}
}
