// SPDX-License-Identifier: Apache-2.0

package nodepodprobe

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

// String says what the plan does and what is left out, one thing a line; empty for nothing.
func (p *Plan) String() string {
	var lines []string
	if p.Create != nil {
		lines = append(lines, "create NodePodProbe "+p.Create.Name)
	}
	if p.Delete {
		lines = append(lines, "delete the NodePodProbe")
	}
	if p.Spec != nil {
		lines = append(lines, "write the probes of the node")
	}
	for _, d := range p.Dropped {
		lines = append(lines, "drop probe "+d.Probe+" of pod "+d.Pod.String()+": "+d.Reason)
	}
	for _, patch := range p.Patches {
		lines = append(lines, "patch pod "+patch.Pod.Namespace+"/"+patch.Pod.Name+": "+strings.ReplaceAll(patch.Patch.String(), "\n", ", "))
	}
	for _, i := range p.Ignored {
		lines = append(lines, "ignore probe "+i.Probe+" of pod "+i.Pod.String()+": "+i.Reason)
	}
	for _, pod := range slices.SortedFunc(maps.Keys(p.LeftOut), func(a, b types.NamespacedName) int { return strings.Compare(a.String(), b.String()) }) {
		lines = append(lines, "leave out pod "+pod.String()+": "+p.LeftOut[pod])
	}
	if p.Waiting != "" {
		lines = append(lines, "wait: "+p.Waiting)
	}
	return strings.Join(lines, "\n")
}
