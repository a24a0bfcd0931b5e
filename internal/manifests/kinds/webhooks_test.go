// SPDX-License-Identifier: Apache-2.0

package kinds_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"

	"github.com/podwright/podwright/availability"
	"github.com/podwright/podwright/availability/deletion"
	"github.com/podwright/podwright/availability/podunavailablebudget"
	"github.com/podwright/podwright/distribution"
	"github.com/podwright/podwright/distribution/image/imagelistpulljob"
	"github.com/podwright/podwright/distribution/image/imagepulljob"
	"github.com/podwright/podwright/distribution/image/nodeimage"
	"github.com/podwright/podwright/distribution/persistentpodstate"
	"github.com/podwright/podwright/distribution/resource"
	"github.com/podwright/podwright/distribution/workloadspread"
	"github.com/podwright/podwright/lifecycle"
	"github.com/podwright/podwright/lifecycle/podwebhook"
	"github.com/podwright/podwright/lifecycle/probe/podprobemarker"
	"github.com/podwright/podwright/lifecycle/recreate"
	"github.com/podwright/podwright/sidecar"
	"github.com/podwright/podwright/sidecar/sidecarset"
	"github.com/podwright/podwright/workloads"
	"github.com/podwright/podwright/workloads/broadcastjob"
	"github.com/podwright/podwright/workloads/cloneset"
	"github.com/podwright/podwright/workloads/cronjob"
	"github.com/podwright/podwright/workloads/daemonset"
	"github.com/podwright/podwright/workloads/statefulset"
	"github.com/podwright/podwright/workloads/uniteddeployment"
)

type configuration func() ([]admissionregistrationv1.MutatingWebhook, []admissionregistrationv1.ValidatingWebhook)

// each calls a function with what each webhook of an area has.
func (c configuration) each(of func(name, path string, rules []admissionregistrationv1.RuleWithOperations)) {
	mutating, validating := c()
	for _, w := range mutating {
		of(w.Name, *w.ClientConfig.Service.Path, w.Rules)
	}
	for _, w := range validating {
		of(w.Name, *w.ClientConfig.Service.Path, w.Rules)
	}
}

// The webhooks that an area names are those that its kinds serve.
func TestWebhooksAreServed(t *testing.T) {
	for name, area := range map[string]struct {
		webhooks configuration
		handlers []map[string]http.Handler
	}{
		"workloads":    {workloads.Webhooks, []map[string]http.Handler{(&cloneset.Webhook{}).Handlers(), (&statefulset.Webhook{}).Handlers(), (&daemonset.Webhook{}).Handlers(), (&broadcastjob.Webhook{}).Handlers(), (&cronjob.Webhook{}).Handlers(), (&uniteddeployment.Webhook{}).Handlers()}},
		"distribution": {distribution.Webhooks, []map[string]http.Handler{(&imagepulljob.Webhook{}).Handlers(), (&imagelistpulljob.Webhook{}).Handlers(), (&nodeimage.Webhook{}).Handlers(), (&resource.Webhook{}).Handlers(), (&workloadspread.Webhook{}).Handlers(), (&persistentpodstate.Webhook{}).Handlers()}},
		"sidecar":      {sidecar.Webhooks, []map[string]http.Handler{(&sidecarset.Webhook{}).Handlers()}},
		"lifecycle":    {lifecycle.Webhooks, []map[string]http.Handler{(&podwebhook.Webhook{}).Handlers(), (&recreate.Webhook{}).Handlers(), (&podprobemarker.Webhook{}).Handlers()}},
		"availability": {availability.Webhooks, []map[string]http.Handler{(&podunavailablebudget.Webhook{Deletions: true}).Handlers(), (&deletion.Webhook{}).Handlers()}},
	} {
		t.Run(name, func(t *testing.T) {
			var served, named []string
			for _, handlers := range area.handlers {
				served = slices.AppendSeq(served, maps.Keys(handlers))
			}
			area.webhooks.each(func(_, path string, _ []admissionregistrationv1.RuleWithOperations) { named = append(named, path) })
			slices.Sort(served)
			slices.Sort(named)
			named = slices.Compact(named) // pods and their evictions go to one
			if diff := cmp.Diff(served, named); diff != "" {
				t.Errorf("paths (-served +named):\n%s", diff)
			}
		})
	}
}

// TestWebhooksAsk shows in testdata/webhooks.txt what the API server asks, by the names of the webhooks: the path, and the rules.
func TestWebhooksAsk(t *testing.T) {
	datadriven.RunTest(t, "testdata/webhooks.txt", func(t *testing.T, _ *datadriven.TestData) string {
		var asked []string
		for _, webhooks := range []configuration{workloads.Webhooks, distribution.Webhooks, sidecar.Webhooks, lifecycle.Webhooks, availability.Webhooks} {
			webhooks.each(func(name, path string, rules []admissionregistrationv1.RuleWithOperations) {
				for _, r := range rules {
					asked = append(asked, fmt.Sprintln(name, path, r.Operations, r.APIGroups, r.APIVersions, r.Resources))
				}
			})
			mutating, _ := webhooks()
			if again, _ := webhooks(); len(again) > 0 {
				again[0].Rules[0].Resources[0] = "changed"
				if mutating[0].Rules[0].Resources[0] == "changed" {
					t.Error("a change of one caller is seen by another")
				}
			}
		}
		slices.Sort(asked)
		return strings.Join(asked, "")
	})
}
