// SPDX-License-Identifier: Apache-2.0

package deletion_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/podwright/podwright/availability/deletion"
	"github.com/podwright/podwright/internal/testing/conformance"
)

// claims is an API server that lists claims: a letter each, of Bound, Pending, and Deleted ones that are Bound.
type claims struct {
	phases string
	broken bool
	asked  []string
}

func (c *claims) List(_ context.Context, namespace string, o metav1.ListOptions) (*corev1.PersistentVolumeClaimList, error) {
	c.asked = append(c.asked, fmt.Sprintf("%s, limit %d, from %q", namespace, o.Limit, o.Continue))
	if c.broken {
		return nil, errors.New("no connection")
	}
	from := 0
	if o.Continue != "" {
		_, _ = fmt.Sscan(o.Continue, &from)
	}
	list := &corev1.PersistentVolumeClaimList{}
	for _, phase := range c.phases[from:min(from+int(o.Limit), len(c.phases))] {
		claim := corev1.PersistentVolumeClaim{Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound}}
		switch phase {
		case 'P':
			claim.Status.Phase = corev1.ClaimPending
		case 'D':
			claim.DeletionTimestamp = &metav1.Time{}
		}
		list.Items = append(list.Items, claim)
	}
	if next := from + len(list.Items); next < len(c.phases) {
		list.Continue = fmt.Sprint(next)
	}
	return list, nil
}

// DP-13: claims that are Bound keep a Namespace that has no active pods.
func TestBoundClaims(t *testing.T) {
	const bound = "403 " + forbidden + `Cascading and "Bound" status pvc `
	first := `shop, limit 500, from ""`
	for _, test := range []struct {
		name, value string
		pods        int
		claims      claims
		want        string
		asked       []string
	}{
		{"none", "Cascading", 0, claims{}, "", []string{first}},
		{"a claim", "Cascading", 0, claims{phases: "B"}, bound + "1>0", []string{first}},
		{"some of several", "Cascading", 0, claims{phases: "PBDB"}, bound + "2>0", []string{first}},
		{"none that is Bound and stays", "Cascading", 0, claims{phases: "PDP"}, "", []string{first}},
		{"the first one is behind a page", "Cascading", 0, claims{phases: strings.Repeat("P", 700) + "B"}, bound + "1>0", []string{first, `shop, limit 500, from "500"`}},
		{"more pages than needed", "Cascading", 0, claims{phases: strings.Repeat("B", 1200)}, bound + "500>0", []string{first}},
		{"pods come first", "Cascading", 1, claims{phases: "B"}, "403 " + forbidden + "Cascading and active pods 1>0", nil},
		{"Always", "Always", 0, claims{phases: "B"}, "403 " + always, nil},
		{"they cannot be listed", "Cascading", 0, claims{broken: true}, "403 forbidden by ResourcesProtectionDeletion for list pvc error: no connection", []string{first}},
	} {
		t.Run("DP-13: "+test.name, func(t *testing.T) {
			r := request(schema.GroupKind{Kind: "Namespace"}, object(test.value, "", ""))
			webhook := &deletion.Webhook{List: (&cluster{objects: test.pods}).List, Claims: test.claims.List}
			if diff := cmp.Diff(test.want, conformance.Verdict(webhook.Validate(t.Context(), r))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if !slices.Equal(test.claims.asked, test.asked) {
				t.Errorf("asked %q, want %q", test.claims.asked, test.asked)
			}
			webhook.Claims = nil
			if got := conformance.Verdict(webhook.Validate(t.Context(), r)); strings.Contains(got, "pvc") {
				t.Errorf("claims count without being asked for: %s", got)
			}
		})
	}
}

// DP-15: a CustomResourceDefinition that is Cascading cannot be deleted, and nothing is listed.
func TestNoDefinitions(t *testing.T) {
	server := &cluster{}
	webhook := &deletion.Webhook{List: server.List, NoDefinitions: true, Resources: []schema.GroupResource{{Group: "shop.io", Resource: "carts"}}}
	for value, want := range map[string]string{
		"Cascading": "403 feature-gate DeletionProtectionForCRDCascadingGate is not enabled", "Always": "403 " + always, "": "", "cascading": "",
	} {
		r := request(schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}, object(value, "", definitionSpec))
		if diff := cmp.Diff(want, conformance.Verdict(webhook.Validate(t.Context(), r))); diff != "" {
			t.Errorf("DP-15: %q (-want +got):\n%s", value, diff)
		}
	}
	if len(server.asked) > 0 {
		t.Errorf("DP-15: listed %q", server.asked)
	}
	if rules := fmt.Sprint(webhook.Rules()); strings.Contains(rules, "carts") {
		t.Errorf("DP-15: it asks for rights that it does not use: %s", rules)
	}
	webhook.Claims = (&claims{}).List
	if rules := fmt.Sprint(webhook.Rules()); !strings.Contains(rules, "persistentvolumeclaims") {
		t.Errorf("DP-13: no right to list claims: %s", rules)
	}
}
