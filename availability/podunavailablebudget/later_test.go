// SPDX-License-Identifier: Apache-2.0

package podunavailablebudget

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/record"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/availability/v1alpha1"
)

func TestFeaturesOf(t *testing.T) {
	if diff := cmp.Diff(Features{}, FeaturesOf(podwright.Release14)); diff != "" {
		t.Errorf("release 1.4 (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(Features{AnnotatedTotal: true, InconsistentMayGo: true}, FeaturesOf(podwright.Release19)); diff != "" {
		t.Errorf("release 1.9 (-want +got):\n%s", diff)
	}
}

// A budget that goes while an answer is booked on it protects nothing. (PUB-14.4, PUB-25)
func TestGoneWhileBooked(t *testing.T) {
	protected(t, 2, func(t *testing.T, c *cluster) {
		g, err := NewGuard(GuardOptions{Availability: c.options.Availability, Budgets: c.snapshotOfBudgets()})
		c.Must(err)
		c.Must(c.budgets.PodUnavailableBudgets("default").Delete(t.Context(), "web", metav1.DeleteOptions{}))
		d, err := g.Allow(t.Context(), c.livePod("a"), v1alpha1.PubDeleteOperation)
		if !d.Allowed || err != nil || !strings.Contains(d.Reason, "there is no budget") {
			t.Errorf("got %+v, %v", d, err)
		}
	})
}

// An eviction asks for the pod itself, since the cache of evictions does not say what its containers run. (PUB-14.3, PUB-33)
func TestEvictInconsistent(t *testing.T) {
	for mayGo, want := range map[bool]string{false: "429 ", true: ""} {
		protected(t, 2, func(t *testing.T, c *cluster) {
			w := c.webhook()
			w.Guard.options.Features.InconsistentMayGo = mayGo
			c.PatchPod("a", `{"spec":{"containers":[{"name":"main","image":"nginx@sha256:bb"}]}}`)
			c.Sleep("1m")
			if got := answer(w.ValidatePod(t.Context(), eviction("a", nil))); !strings.HasPrefix(got, want) || want == "" && got != "" {
				t.Errorf("PUB-14.3: switched on %t: %q, want %q; %s", mayGo, got, want, c.show("web"))
			}
			if got := answer(w.ValidatePod(t.Context(), eviction("b", nil))); !strings.HasPrefix(got, "429 ") {
				t.Errorf("PUB-14.3: the other one may go: %q; %s", got, c.show("web"))
			}
		})
	}
}

// noted are the events that a recorder was given.
type noted struct {
	record.EventRecorder
	events []string
}

func (n *noted) Event(object runtime.Object, kind, reason, message string) {
	about := object.(*corev1.ObjectReference)
	n.events = append(n.events, fmt.Sprintf("%s %s/%s %s: %s %s: %s", about.Kind, about.Namespace, about.Name, about.UID, kind, reason, message))
}

// A denial is told on the pod, once a minute, and none of a dry run is. (PUB-44)
func TestDenialEvents(t *testing.T) {
	protected(t, 2, func(t *testing.T, c *cluster) {
		w, events := c.webhook(), &noted{}
		w.Recorder = events
		uid := c.livePod("a").UID
		first := deletion(c.livePod("a"), metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}})
		if d, err := w.Guard.Allow(t.Context(), c.livePod("b"), v1alpha1.PubDeleteOperation); !d.Allowed || err != nil {
			t.Fatalf("%+v, %v", d, err)
		}
		step := func(what string, want int) {
			t.Helper()
			if len(events.events) != want {
				t.Errorf("PUB-44: %s: %d events, want %d: %v", what, len(events.events), want, events.events)
			}
		}
		ask := func(allowed bool) {
			t.Helper()
			if r := w.ValidatePod(t.Context(), deletion(c.livePod("a"), metav1.DeleteOptions{})); r.Allowed != allowed {
				t.Fatalf("allowed %t, want %t", r.Allowed, allowed)
			}
		}
		w.ValidatePod(t.Context(), first)
		step("a dry run", 0)
		ask(false)
		step("a denial", 1)
		for range 3 {
			c.Sleep("5s")
			w.ValidatePod(t.Context(), eviction("a", nil))
		}
		step("tries again and again", 1)
		c.Sleep("10s") // b is counted again
		ask(true)
		step("what is allowed", 1)
		for range 15 {
			c.Sleep("5s")
			if d, err := w.Guard.Allow(t.Context(), c.livePod("b"), v1alpha1.PubDeleteOperation); err != nil {
				t.Fatalf("%+v, %v", d, err)
			}
		}
		w.Recorder = events
		ask(false)
		step("a minute later", 2)
		want := fmt.Sprintf("Pod default/a %s: Warning PubPreventPodDeletion: openkruise pub prevents pod deletion", uid)
		if events.events[0] != want {
			t.Errorf("PUB-44: got %q, want %q", events.events[0], want)
		}
	})
}

// Rights to record events are asked for if they are recorded, and only then. (PUB-44)
func TestRulesOfDenialEvents(t *testing.T) {
	rules := func(w *Webhook) string { return fmt.Sprint(w.Rules()) }
	if with, without := rules(&Webhook{Updates: true, Recorder: &noted{}}), rules(&Webhook{Updates: true}); !strings.Contains(with, "events") || strings.Contains(without, "events") {
		t.Errorf("with a recorder %s, without %s", with, without)
	}
	if none := rules(&Webhook{Recorder: &noted{}}); strings.Contains(none, "events") {
		t.Errorf("an event that no user asked for: %s", none)
	}
}
