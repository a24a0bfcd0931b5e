// SPDX-License-Identifier: Apache-2.0

package podunavailablebudget

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
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

// Rights to record events are asked for if they are recorded, and only then. (PUB-44)
func TestRulesOfDenialEvents(t *testing.T) {
	rules := func(w *Webhook) string { return fmt.Sprint(w.Rules()) }
	if with, without := rules(&Webhook{Updates: true, Recorder: &fixture.Recorder{}}), rules(&Webhook{Updates: true}); !strings.Contains(with, "events") || strings.Contains(without, "events") {
		t.Errorf("with a recorder %s, without %s", with, without)
	}
	if none := rules(&Webhook{Recorder: &fixture.Recorder{}}); strings.Contains(none, "events") {
		t.Errorf("an event that no user asked for: %s", none)
	}
}
