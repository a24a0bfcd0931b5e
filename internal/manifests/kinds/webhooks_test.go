// SPDX-License-Identifier: Apache-2.0

package kinds_test

import (
	"maps"
	"net/http"
	"slices"
	"testing"

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

type configuration = func() ([]admissionregistrationv1.MutatingWebhook, []admissionregistrationv1.ValidatingWebhook)

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
			mutating, validating := area.webhooks()
			for _, w := range mutating {
				named = append(named, *w.ClientConfig.Service.Path)
			}
			for _, w := range validating {
				named = append(named, *w.ClientConfig.Service.Path)
			}
			slices.Sort(served)
			slices.Sort(named)
			named = slices.Compact(named) // pods and their evictions go to one
			if diff := cmp.Diff(served, named); diff != "" {
				t.Errorf("paths (-served +named):\n%s", diff)
			}
		})
	}
}

// What the API server asks, by the names of the webhooks.
func TestWebhooksAsk(t *testing.T) {
	type asked struct {
		Path       string
		Operations []admissionregistrationv1.OperationType
		Groups     []string
		Versions   []string
		Resources  []string
	}
	const create, update, remove = admissionregistrationv1.Create, admissionregistrationv1.Update, admissionregistrationv1.Delete
	type operations = []admissionregistrationv1.OperationType
	changes, all, removals := operations{create, update}, operations{create, update, remove}, operations{remove}
	kruise, alpha, both := []string{"apps.kruise.io"}, []string{"v1alpha1"}, []string{"v1alpha1", "v1beta1"}
	want := map[string]asked{
		"mpod.kb.io":                      {"/mutate-pod", operations{create}, []string{""}, []string{"v1"}, []string{"pods"}},
		"mcontainerrecreaterequest.kb.io": {recreate.MutatePath, changes, kruise, alpha, []string{"containerrecreaterequests"}},
		"mcloneset.kb.io":                 {cloneset.MutatePath, changes, kruise, alpha, []string{"clonesets"}},
		"vcloneset.kb.io":                 {cloneset.ValidatePath, all, kruise, alpha, []string{"clonesets"}},
		"mstatefulset.kb.io":              {statefulset.MutatePath, changes, kruise, both, []string{"statefulsets"}},
		"vstatefulset.kb.io":              {statefulset.ValidatePath, all, kruise, both, []string{"statefulsets"}},
		"mdaemonset.kb.io":                {daemonset.MutatePath, changes, kruise, alpha, []string{"daemonsets"}},
		"vdaemonset.kb.io":                {daemonset.ValidatePath, changes, kruise, alpha, []string{"daemonsets"}},
		"mbroadcastjob.kb.io":             {broadcastjob.MutatePath, changes, kruise, alpha, []string{"broadcastjobs"}},
		"vbroadcastjob.kb.io":             {broadcastjob.ValidatePath, changes, kruise, alpha, []string{"broadcastjobs"}},
		"madvancedcronjob.kb.io":          {cronjob.MutatePath, changes, kruise, alpha, []string{"advancedcronjobs"}},
		"vadvancedcronjob.kb.io":          {cronjob.ValidatePath, changes, kruise, alpha, []string{"advancedcronjobs"}},
		"muniteddeployment.kb.io":         {uniteddeployment.MutatePath, changes, kruise, alpha, []string{"uniteddeployments"}},
		"vuniteddeployment.kb.io":         {uniteddeployment.ValidatePath, all, kruise, alpha, []string{"uniteddeployments"}},
		"mimagepulljob.kb.io":             {imagepulljob.MutatePath, changes, kruise, alpha, []string{"imagepulljobs"}},
		"vimagepulljob.kb.io":             {imagepulljob.ValidatePath, changes, kruise, alpha, []string{"imagepulljobs"}},
		"mimagelistpulljob.kb.io":         {imagelistpulljob.MutatePath, changes, kruise, alpha, []string{"imagelistpulljobs"}},
		"vimagelistpulljob.kb.io":         {imagelistpulljob.ValidatePath, changes, kruise, alpha, []string{"imagelistpulljobs"}},
		"mnodeimage.kb.io":                {nodeimage.MutatePath, changes, kruise, alpha, []string{"nodeimages"}},
		"msidecarset.kb.io":               {sidecarset.MutatePath, changes, kruise, alpha, []string{"sidecarsets"}},
		"vresourcedistribution.kb.io":     {resource.ValidatePath, changes, kruise, alpha, []string{"resourcedistributions"}},
		"vworkloadspread.kb.io":           {workloadspread.ValidatePath, changes, kruise, alpha, []string{"workloadspreads"}},
		"vpersistentpodstate.kb.io":       {persistentpodstate.ValidatePath, changes, kruise, alpha, []string{"persistentpodstates"}},
		"vpodprobemarker.kb.io":           {podprobemarker.ValidatePath, changes, kruise, alpha, []string{"podprobemarkers"}},
		"vnodeimage.kb.io":                {nodeimage.ValidatePath, changes, kruise, alpha, []string{"nodeimages"}},
		"vsidecarset.kb.io":               {sidecarset.ValidatePath, changes, kruise, alpha, []string{"sidecarsets"}},

		"vnamespace.kb.io":                {deletion.NamespacePath, removals, []string{""}, []string{"v1"}, []string{"namespaces"}},
		"vcustomresourcedefinition.kb.io": {deletion.DefinitionPath, removals, []string{"apiextensions.k8s.io"}, []string{"v1", "v1beta1"}, []string{"customresourcedefinitions"}},
		"vbuiltindeployment.kb.io":        {deletion.DeploymentPath, removals, []string{"apps"}, []string{"v1"}, []string{"deployments"}},
		"vbuiltinreplicaset.kb.io":        {deletion.ReplicaSetPath, removals, []string{"apps"}, []string{"v1"}, []string{"replicasets"}},
		"vbuiltinstatefulset.kb.io":       {deletion.StatefulSetPath, removals, []string{"apps"}, []string{"v1"}, []string{"statefulsets"}},
		"vservice.kb.io":                  {deletion.ServicePath, removals, []string{""}, []string{"v1"}, []string{"services"}},
		"vingress.kb.io":                  {deletion.IngressPath, removals, []string{"networking.k8s.io"}, []string{"v1", "v1beta1"}, []string{"ingresses"}},
		"vpodunavailablebudget.kb.io":     {podunavailablebudget.ValidatePath, changes, []string{"policy.kruise.io"}, alpha, []string{"podunavailablebudgets"}},
		"vpod.kb.io":                      {podunavailablebudget.ValidatePodPath, operations{update, remove}, []string{""}, []string{"v1"}, []string{"pods"}},
		"vpodeviction.kb.io":              {podunavailablebudget.ValidatePodPath, operations{create}, []string{""}, []string{"v1"}, []string{"pods/eviction"}},
	}
	got := map[string]asked{}
	add := func(name string, client admissionregistrationv1.WebhookClientConfig, rules []admissionregistrationv1.RuleWithOperations) {
		r := rules[0]
		got[name] = asked{*client.Service.Path, r.Operations, r.APIGroups, r.APIVersions, r.Resources}
	}
	for _, webhooks := range []configuration{workloads.Webhooks, distribution.Webhooks, sidecar.Webhooks, lifecycle.Webhooks, availability.Webhooks} {
		mutating, validating := webhooks()
		for _, w := range mutating {
			add(w.Name, w.ClientConfig, w.Rules)
		}
		for _, w := range validating {
			add(w.Name, w.ClientConfig, w.Rules)
		}
		if again, _ := webhooks(); len(again) > 0 {
			again[0].Rules[0].Resources[0] = "changed"
			if mutating[0].Rules[0].Resources[0] == "changed" {
				t.Error("a change of one caller is seen by another")
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("webhooks (-want +got):\n%s", diff)
	}
}
