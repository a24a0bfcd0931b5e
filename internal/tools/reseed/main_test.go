// SPDX-License-Identifier: Apache-2.0

package main

import (
	"reflect"
	"strings"
	"testing"
)

func TestReseed(t *testing.T) {
	seeds, err := read(strings.NewReader(`
{"Action":"output","Package":"github.com/podwright/podwright/workloads/cloneset","Test":"TestSimulationFindsBugs/paused_is_ignored","Output":"    bugs.go:47: found by seed 12\n"}
{"Action":"output","Package":"github.com/podwright/podwright/workloads/cloneset","Test":"TestSimulation/seed_3","Output":"found nothing\n"}
`))
	if err != nil {
		t.Fatal(err)
	}
	if want := map[string]map[string]string{"workloads/cloneset": {"paused_is_ignored": "12"}}; !reflect.DeepEqual(seeds, want) {
		t.Errorf("found seeds %v, want %v", seeds, want)
	}
	before := "\t\tplant(\"paused is ignored\", invariants.Paused, 7, nil)\n\t\tplant(\"another\", invariants.Paused, 7, nil)\n"
	after := "\t\tplant(\"paused is ignored\", invariants.Paused, 12, nil)\n\t\tplant(\"another\", invariants.Paused, 7, nil)\n"
	if got := replace(before, seeds["workloads/cloneset"]); got != after {
		t.Errorf("found\n%swant\n%s", got, after)
	}
}
