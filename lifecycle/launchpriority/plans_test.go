// SPDX-License-Identifier: Apache-2.0

package launchpriority

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/testing/patches"
)

// TestPlans shows what is to be done about pods, and what waits. Two lines follow a plan. The first one is the pod, as podOf reads it, with changes of
// testdata/words.yaml after a "|". The second one is its ConfigMap, "owner: key key", if there is one. An owner is a UID, or "Kind/name/UID", or several
// with commas, or none; "leaving" stands before that of one that is being deleted. "plan-1.9" is with the features of that release. "config-map" shows the one that is created. "changes" has two
// pods, of which the first may be missing, and tells whether the second is enqueued.
func TestPlans(t *testing.T) {
	datadriven.Walk(t, "testdata/plans", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			first, second, _ := strings.Cut(d.Input, "\n")
			if d.Cmd == "changes" {
				var before *corev1.Pod
				if first != "none" {
					before = podIn(t, first)
				}
				return fmt.Sprintln((Features{}).mayChangePlan(before, podIn(t, second)))
			}
			s := &Snapshot{Pod: podIn(t, first), ConfigMap: configMapIn(second)}
			if d.Cmd == "plan-1.9" {
				s.Features = FeaturesOf(podwright.Release19)
			}
			before := &Snapshot{Pod: s.Pod.DeepCopy(), ConfigMap: s.ConfigMap.DeepCopy(), Features: s.Features}
			plan := NewPlan(s)
			if diff := cmp.Diff(before, s); diff != "" {
				t.Errorf("%s: the snapshot was changed:\n%s", d.Pos, diff)
			}
			if d.Cmd == "config-map" {
				data, err := yaml.Marshal(plan.Create)
				return string(data) + fmt.Sprintln("error", err)
			}
			lines := []string{describe(plan)}
			if plan.Mark {
				lines = append(lines, "mark")
			}
			for _, w := range plan.Waiting {
				lines = append(lines, fmt.Sprintf("%s waits, %s %d below %d: %s", w.Name, w.Reason.Rule, w.Reason.Observed, w.Reason.Limit, w.Reason))
			}
			for _, problem := range plan.Problems {
				lines = append(lines, problem.String())
			}
			return strings.Join(append(lines, ""), "\n")
		})
	})
}

// words are those of testdata/words.yaml.
var words = patches.Read("testdata/words.yaml", time.Unix(1, 0))

// podIn reads a pod and its changes.
func podIn(t *testing.T, text string) *corev1.Pod {
	t.Helper()
	containers, changes, _ := strings.Cut(text, "|")
	return patches.Changed(words, podOf(t, containers), strings.Fields(changes)...)
}

// configMapIn reads a ConfigMap; nil if there is none.
func configMapIn(text string) *corev1.ConfigMap {
	owners, keys, found := strings.Cut(text, ":")
	if !found {
		return nil
	}
	owners, leaving := strings.CutPrefix(owners, "leaving ")
	c := configMapOf("uid", strings.Fields(keys)...)
	if leaving {
		c.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
	}
	c.OwnerReferences = nil
	for owner := range strings.SplitSeq(owners, ",") {
		switch words := strings.Split(owner, "/"); {
		case len(words) == 3:
			c.OwnerReferences = append(c.OwnerReferences, metav1.OwnerReference{APIVersion: "v1", Kind: words[0], Name: words[1], UID: types.UID(words[2])})
		case owner != "none":
			c.OwnerReferences = append(c.OwnerReferences, configMapOf(types.UID(owner)).OwnerReferences...)
		}
	}
	return c
}

func TestNothingToPlanFor(t *testing.T) {
	for _, s := range []*Snapshot{nil, {}} {
		if plan := NewPlan(s); !reflect.DeepEqual(plan, &Plan{}) {
			t.Errorf("plan %+v, want none", plan)
		}
	}
}
