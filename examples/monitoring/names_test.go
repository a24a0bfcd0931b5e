// SPDX-License-Identifier: Apache-2.0

package monitoring

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
)

// metrics are names of metrics and their labels.
type metrics map[string][]string

// ofTargets are the labels that Prometheus gives to what it scrapes from pods.
var ofTargets = []string{"job", "instance", "namespace", "pod", "node"}

// asked returns the metrics that a selector is about, of those that exist.
func (all metrics) asked(v *parser.VectorSelector) (names []string) {
	for name := range all {
		if !slices.ContainsFunc(v.LabelMatchers, func(m *labels.Matcher) bool { return m.Name == model.MetricNameLabel && !m.Matches(name) }) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// existing returns all that may be asked for: what kube-state-metrics shows, what manager and node agents register, and what
// every target has.
func existing(t *testing.T) metrics {
	t.Helper()
	all := families(t)
	for _, file := range []string{"testdata/manager.txt", "testdata/nodeagent.txt"} {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			name, rest, _ := strings.Cut(strings.TrimSuffix(line, "}\n"), "{")
			all[name] = append(all[name], strings.Split(rest, ",")...)
			if strings.HasSuffix(name, "_seconds") { // a histogram, or a gauge that no query asks for by these names
				for _, suffix := range []string{"_bucket", "_sum", "_count"} {
					all[name+suffix] = append(all[name], "le")
				}
			}
		}
	}
	all["up"] = nil
	return all
}

// checkExpression fails a test for PromQL that does not parse, or that asks for a metric or a label that does not exist.
func checkExpression(t *testing.T, where, query string) {
	t.Helper()
	expression, err := parser.NewParser(parser.Options{}).ParseExpr(query)
	if err != nil {
		t.Errorf("%s: %s: %v", where, query, err)
		return
	}
	all := existing(t)
	parser.Inspect(expression, func(node parser.Node, _ []parser.Node) error {
		switch node := node.(type) {
		case *parser.VectorSelector:
			var known []string
			asked := all.asked(node)
			for _, name := range asked {
				known = append(known, all[name]...)
			}
			if len(asked) == 0 {
				t.Errorf("%s: %s: there is no metric %q", where, query, node)
			}
			for _, m := range node.LabelMatchers {
				if m.Name != model.MetricNameLabel && !slices.Contains(known, m.Name) && !slices.Contains(ofTargets, m.Name) {
					t.Errorf("%s: %s: %s has no label %q", where, query, node.Name, m.Name)
				}
			}
		case *parser.AggregateExpr:
			if !node.Without {
				checkLabels(t, where, node.Expr, node.Grouping, all)
			}
		case *parser.BinaryExpr:
			if node.VectorMatching != nil && node.VectorMatching.On {
				checkLabels(t, where, node, node.VectorMatching.MatchingLabels, all)
			}
		}
		return nil
	})
}

// checkLabels fails a test for labels that a metric in an expression lacks.
func checkLabels(t *testing.T, where string, in parser.Node, names []string, all metrics) {
	t.Helper()
	parser.Inspect(in, func(node parser.Node, _ []parser.Node) error {
		if v, ok := node.(*parser.VectorSelector); ok {
			for _, name := range names {
				if !slices.Contains(all[v.Name], name) && !slices.Contains(ofTargets, name) {
					t.Errorf("%s: %s: %s has no label %q", where, in, v.Name, name)
				}
			}
		}
		return nil
	})
}

// parse returns an expression that checkExpression has accepted.
func parse(t *testing.T, query string) parser.Expr {
	t.Helper()
	expression, err := parser.NewParser(parser.Options{}).ParseExpr(query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return expression
}

// names returns the metrics that a query is about.
func names(t *testing.T, query string) (found []string) {
	t.Helper()
	all := existing(t)
	parser.Inspect(parse(t, query), func(node parser.Node, _ []parser.Node) error {
		if v, ok := node.(*parser.VectorSelector); ok {
			found = append(found, all.asked(v)...)
		}
		return nil
	})
	return found
}

// resultLabels returns the labels of what a query results in: those that it groups by, or those of its first metric.
func resultLabels(t *testing.T, query string) (found []string) {
	t.Helper()
	all := existing(t)
	done := false
	parser.Inspect(parse(t, query), func(node parser.Node, _ []parser.Node) error {
		switch node := node.(type) {
		case *parser.AggregateExpr:
			if !done {
				found, done = node.Grouping, true
			}
		case *parser.VectorSelector:
			if !done {
				found, done = all[node.Name], true
			}
		}
		return nil
	})
	return found
}
