// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	clock "k8s.io/utils/clock/testing"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/podplan"
	"github.com/podwright/podwright/internal/testing/fakecluster"
)

func labelled(name string) *corev1.Pod {
	p := pod(name)
	p.Labels = map[string]string{"app": "web", "team": "a", podplan.RevisionLabel: "web-1"}
	return p
}

// placement changes pods that are to be created.
type placement func(*corev1.Pod)

func (p placement) PlacePod(_ context.Context, pod *corev1.Pod) (*corev1.Pod, error) {
	pod = pod.DeepCopy()
	p(pod)
	return pod, nil
}

// TestCreationsThatAreNotAsAsked has admission, or Placement, change pods that are to be created.
func TestCreationsThatAreNotAsAsked(t *testing.T) {
	for _, test := range []struct {
		name    string
		key, to string
		refused string
	}{
		{"CT-5: a label of the selector is another one", "app", "other", `label app is "other", not "web"`},
		{"CT-5: a label of the selector is gone", "app", "", `no label app, wanted "web"`},
		{"CT-5: the label of the revision is gone", podplan.RevisionLabel, "", "no label " + podplan.RevisionLabel},
		{"another label may be any", "team", "b", ""},
	} {
		set := func(l map[string]string) map[string]string {
			if l[test.key] = test.to; test.to == "" {
				delete(l, test.key)
			}
			return l
		}
		t.Run(test.name+", by admission", func(t *testing.T) {
			s := newFixture(t)
			s.Selected = labels.SelectorFromSet(labels.Set{"app": "web"})
			s.Mutate(func(r fakecluster.Request, object *unstructured.Unstructured) {
				if r.Verb == "create" {
					object.SetLabels(set(object.GetLabels()))
				}
			})
			err := s.createPods(rollout.PodCreation{Pod: labelled("web-0")})
			want := []string{"create pods", "delete pods web-0"}
			if test.refused == "" {
				want = want[:1]
			}
			if diff := cmp.Diff(want, s.requests()); diff != "" || (err != nil) != (test.refused != "") || err != nil && !strings.Contains(err.Error(), test.refused) {
				t.Errorf("error %v, requests (-want +got):\n%s", err, diff)
			}
			if s.lost() != nil {
				t.Error("the answer is known, and asked for again")
			}
		})
		t.Run(test.name+", by Placement", func(t *testing.T) {
			s := newFixture(t)
			s.Selected = labels.SelectorFromSet(labels.Set{"app": "web"})
			s.Placement = placement(func(pod *corev1.Pod) { set(pod.Labels) })
			err := s.createPods(rollout.PodCreation{Pod: labelled("web-0")})
			if (err != nil) != (test.refused != "") || err != nil && (!strings.Contains(err.Error(), test.refused) || len(s.requests()) > 0) {
				t.Errorf("error %v, requests %v", err, s.requests())
			}
		})
	}
}

// If a pod was not made as asked for, the next creation waits, twice as long each time, and five minutes at most. A new
// generation does not wait. (CT-5)
func TestCreationsBackOff(t *testing.T) {
	s := newFixture(t)
	now := clock.NewFakeClock(time.Unix(1000, 0))
	s.Clock, s.Selected = now, labels.SelectorFromSet(labels.Set{"app": "web"})
	s.Mutate(func(r fakecluster.Request, object *unstructured.Unstructured) { object.SetLabels(nil) })
	try := func() bool {
		s.ForgetRequests()
		if err := s.createPods(rollout.PodCreation{Pod: labelled("web-0")}); err == nil {
			t.Fatal("no error")
		}
		return slices.Contains(s.requests(), "create pods")
	}
	var tries []time.Duration
	for start := now.Now(); now.Since(start) < time.Hour; now.Step(time.Second) {
		if try() {
			tries = append(tries, now.Since(start))
		}
	}
	if len(tries) < 12 || len(tries) > 21 || tries[1] != time.Second || tries[len(tries)-1]-tries[len(tries)-2] != 5*time.Minute {
		t.Errorf("tries at %v", tries)
	}
	s.set.Generation++
	if !try() {
		t.Error("a new generation waits")
	}
	if try() {
		t.Error("and its second try does not")
	}
	s.Forget(s.Key)
	if !try() {
		t.Error("what was forgotten waits")
	}
}
