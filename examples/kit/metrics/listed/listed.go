// SPDX-License-Identifier: Apache-2.0

// Package listed holds a file that lists the metrics of a program to what the program registers. It is for tests.
package listed

import (
	"flag"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
)

var rewrite = flag.Bool("rewrite-metrics", false, "write the list of metrics anew")

// description is the text of a prometheus.Desc, which tells its parts in no other way.
var description = regexp.MustCompile(`^Desc\{fqName: "(.*)", help: ".*", constLabels: \{.*\}, variableLabels: \{(.*)\}\}$`)

// Compare fails a test if a file does not list what is registered: a line is a name and its labels. What every program in
// Go has is left out. The flag -rewrite-metrics writes the file.
func Compare(t *testing.T, registry prometheus.Collector, file string) {
	t.Helper()
	descriptions := make(chan *prometheus.Desc)
	go func() {
		defer close(descriptions)
		registry.Describe(descriptions)
	}()
	var lines []string
	for d := range descriptions {
		parts := description.FindStringSubmatch(d.String())
		if parts == nil {
			t.Fatalf("%s is not the text of a description that is known; adapt the expression to it", d)
		}
		if strings.HasPrefix(parts[1], "go_") || strings.HasPrefix(parts[1], "process_") {
			continue
		}
		lines = append(lines, parts[1]+"{"+parts[2]+"}")
	}
	slices.Sort(lines)
	got := strings.Join(slices.Compact(lines), "\n") + "\n"
	if *rewrite {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s is not what is registered (-listed +registered); write it by: go test -run '^TestMetrics$' . -args -rewrite-metrics\n%s", file, diff)
	}
}
