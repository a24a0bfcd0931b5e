// SPDX-License-Identifier: Apache-2.0

package daemonset

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/podwright/podwright"
)

// A release switches what it does by default. (DS-25)
func TestFeaturesOf(t *testing.T) {
	if diff := cmp.Diff(Features{}, FeaturesOf(podwright.Release14)); diff != "" {
		t.Errorf("1.4 (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(Features{PartitionRoundsDown: true, PreDownloadSandboxConfig: true}, FeaturesOf(podwright.Release19)); diff != "" {
		t.Errorf("1.9 (-want +got):\n%s", diff)
	}
}

// A partition in percent is rounded up, and down with PartitionRoundsDown; of the nodes that there are, also before the first
// status. (DS-V3, DS-25)
func TestPartitionRounding(t *testing.T) {
	for _, tt := range []struct {
		partition string
		down      bool
		want      int32
	}{
		{"50%", false, 2}, {"50%", true, 1}, {"99%", false, 2}, {"99%", true, 2}, {"100%", true, 3}, {"0%", true, 0}, {"34%", true, 1}, {"33%", true, 0},
	} {
		s := place(t, setOf(t, rolling+"partition: "+tt.partition+"}}}"), "n1:v1 n2:v1 n3:v1")
		s.Features.PartitionRoundsDown = tt.down
		p := &planner{Snapshot: s, plan: &Plan{}}
		if err := p.checkInput(); err != nil {
			t.Fatal(err)
		}
		if err := p.read(); err != nil || p.limits.partition != tt.want {
			t.Errorf("%s of 3, down %t: %d, error %v, want %d", tt.partition, tt.down, p.limits.partition, err, tt.want)
		}
	}
}

// The field of v1beta1 says whether pods are created only as the partition lets, and the annotation if it is not there. (DS-6)
func TestPartitionedScaling(t *testing.T) {
	const annotated = "daemonset.kruise.io/progressive-create-pod: 'true'"
	field := func(value string) string {
		return `v1beta1-fields.podwright.github.io/spec.scaleStrategy.partitionedScaling: '{"spec":{"scaleStrategy":{"partitionedScaling":` + value + `}}}'`
	}
	for _, tt := range []struct{ name, annotations, want string }{
		{"DS-6: neither", "", "+n1:v1 +n2:v1 +n3:v2"},
		{"DS-6: the annotation", annotated, "+n1:v2"},
		{"DS-6: the field", field("true"), "+n1:v2"},
		{"DS-6: the field, as former releases kept it", `podwright.github.io/v1beta1-fields: '{"spec":{"scaleStrategy":{"partitionedScaling":true}}}'`, "+n1:v2"},
		{"DS-6: the field is false, whatever annotation is left", annotated + ", " + field("false"), "+n1:v1 +n2:v1 +n3:v2"},
		{"DS-6: the field says nothing", annotated + ", " + field("null"), "+n1:v2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			set := setOf(t, fmt.Sprintf("metadata: {annotations: {%s}}\n%spartition: 2}}}", tt.annotations, rolling))
			if got := show(NewPlan(place(t, set, "n1 n2 n3"))); got != tt.want {
				t.Errorf("plan\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}
