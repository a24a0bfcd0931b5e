// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// small has what a small run measured: a value and the name of a figure in each line.
//
//go:embed testdata/small.txt
var small string

// worse is the factor by which a figure may be above that. slack may be added to it: now and then something is due by itself.
const worse, slack = 1.1, 0.05

// TestSmall wants no figure that is the same on each machine to be worse than it was.
func TestSmall(t *testing.T) {
	var log strings.Builder
	figures, err := measure(t.Context(), size{namespaces: 4, nodes: 40}, &log)
	if err != nil {
		t.Fatalf("%v\n%s", err, &log)
	}
	found := map[string]float64{}
	for _, f := range figures {
		found[f.name] = f.value
		t.Logf("%-60s %.4g %s", f.name, f.value, f.unit)
	}
	limits, err := limits(small)
	if err != nil {
		t.Fatal(err)
	}
	for name, was := range limits {
		if is, measured := found[name]; !measured || is > was*worse+slack {
			t.Errorf("%s: found %.4g (measured: %v), want %.4g, or a tenth more at most", name, is, measured, was)
		} else if is+slack < was/worse/worse {
			t.Logf("%s: found %.4g: testdata/small.txt can say less than %.4g", name, is, was)
		}
	}
}

// limits reads a file of figures.
func limits(file string) (map[string]float64, error) {
	all := map[string]float64{}
	for lines := bufio.NewScanner(strings.NewReader(file)); lines.Scan(); {
		line := lines.Text()
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		value, name, found := strings.Cut(line, " ")
		n, err := strconv.ParseFloat(value, 64)
		if err != nil || !found {
			return nil, fmt.Errorf("testdata/small.txt: want a number, a space and a name, found %q", line)
		}
		all[name] = n
	}
	return all, nil
}

func TestPercentile(t *testing.T) {
	times := []time.Duration{5, 1, 4, 2, 3, 6, 10, 7, 9, 8}
	for of, want := range map[int]time.Duration{0: 1, 50: 6, 99: 10} {
		if got := percentile(times, of); got != want {
			t.Errorf("%d of a hundred: %v, want %v", of, got, want)
		}
	}
	if got := percentile(nil, 99); got != 0 {
		t.Errorf("of none: %v", got)
	}
}

func TestLimits(t *testing.T) {
	got, err := limits("# words\n\n3.5 things for a pod\n")
	if diff := cmp.Diff(map[string]float64{"things for a pod": 3.5}, got); diff != "" || err != nil {
		t.Error(err, diff)
	}
	if _, err := limits("many things"); err == nil {
		t.Error("a line without a number is read")
	}
}

// TestWorld wants each object of the files to be read, with its pod.
func TestWorld(t *testing.T) {
	for file, want := range map[string]int{worldYAML: 11, everywhereYAML: 6} {
		objects, err := parse(file)
		if err != nil || len(objects) != want {
			t.Fatalf("%d objects, want %d, error %v", len(objects), want, err)
		}
		for _, o := range objects {
			if o.GetName() == "" || o.GetKind() == "" {
				t.Errorf("an object without name or kind: %v", o)
			}
		}
	}
}
