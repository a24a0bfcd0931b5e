// SPDX-License-Identifier: Apache-2.0

package daemonset

import (
	"errors"
	"fmt"
	"testing"

	"github.com/podwright/podwright/internal/testing/patches"
)

// attempt is a row of testdata/attempts.txt. Creations were refused for nodes, and served afterwards. An update took the pods of
// nodes out of service. Nodes stands for nodes and pods as they are then, in the notation of place. The DaemonSet may be another
// one of the name by then, or be forgotten.
type attempt struct {
	Refused, Served, Disrupted []string
	Nodes                      string
	Another, Forgotten         bool
}

// TestAttempts shows which nodes come last, since the last creation for them was refused. It shows which are disrupted until they
// have an available pod, for the first time and once more. (DS-7, DS-11)
func TestAttempts(t *testing.T) {
	patches.PlayRows(t, "testdata/attempts.txt", nil, func(t *testing.T, _ string, row *attempt) string {
		var a attempts
		s := place(t, setOf(t, ready10(two)), row.Nodes)
		for _, node := range row.Refused {
			a.ended(s.Set, node, errors.New("refused"))
		}
		for _, node := range row.Served {
			a.ended(s.Set, node, nil)
		}
		for _, node := range row.Disrupted {
			a.disrupts(s.Set, node)
		}
		if row.Forgotten {
			a.forget(keyOf(s.Set))
		}
		if row.Another {
			s.Set.UID = "another"
		}
		nodes, names := a.of(s.Set)
		first := a.disrupted(s.Set, s.Pods, s.Nodes, noon)
		return fmt.Sprintln("refused", nodes, "names", names, "disrupted", first, "then", a.disrupted(s.Set, s.Pods, s.Nodes, noon))
	})
}
