// SPDX-License-Identifier: Apache-2.0

package nodepodprobe

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// PPM-3.8: namespaces share the room of a node, and what has none is left out. PPM-1.6: and so is what is too large for any.
func TestRoom(t *testing.T) {
	script := func(n int) corev1.Probe { return exec("sh", "-c", strings.Repeat("x", n)) }
	huge := newProbe("huge", "Huge")
	huge.Probe = script(60 << 10)
	large := newMarker("large")
	for i := range 4 {
		probe := newProbe(fmt.Sprint("p", i), fmt.Sprint("P", i))
		probe.Probe = script(3 << 10)
		large.Spec.Probes = append(large.Spec.Probes, probe)
	}
	victim := newMarker("victim", newProbe("idle", "Idle"))
	victim.Namespace = "bank"
	pods := []*corev1.Pod{newPod("web-0", "in=bank")}
	for i := range 100 {
		pods = append(pods, newPod(fmt.Sprintf("evil-%03d", i)))
	}
	s := newSnapshot(newProbes(), pods, large, newMarker("huge", huge), victim)
	plan := NewPlan(s)
	size := 0
	stands := map[string]int{}
	for _, entry := range plan.Spec.PodProbes {
		data, err := json.Marshal(entry)
		if err != nil {
			t.Fatal(err)
		}
		size += len(data)
		stands[entry.Namespace] += len(entry.Probes)
	}
	if size > 1<<20 || stands["bank"] != 1 || stands["shop"] < 200 || stands["shop"] > 240 {
		t.Errorf("the NodePodProbe has %d bytes, and probes %v", size, stands)
	}
	if why := plan.LeftOut[types.NamespacedName{Namespace: "shop", Name: "large"}]; len(plan.LeftOut) != 1 || !strings.Contains(why, "may take 1048576 bytes, and those of namespace shop take") {
		t.Errorf("left out: %v", plan.LeftOut)
	}
	said := map[string]int{}
	for _, p := range plan.Patches {
		for _, c := range p.Conditions {
			said[fmt.Sprint(c.Status, " ", strings.Fields(c.Message)[:9])]++
		}
	}
	if n := said["Unknown [the probe is left out: it has 61527 bytes,]"]; n != 100 || len(said) != 2 {
		t.Errorf("conditions: %v", said)
	}
	s.NodePodProbe.Spec = *plan.Spec
	for _, p := range plan.Patches {
		p.Pod.Status.Conditions = append(p.Pod.Status.Conditions, p.Conditions...)
	}
	if again := NewPlan(s); again.Spec != nil || len(again.Patches) > 0 {
		t.Errorf("a plan that was applied has %d patches left, spec %v", len(again.Patches), again.Spec != nil)
	}
}
