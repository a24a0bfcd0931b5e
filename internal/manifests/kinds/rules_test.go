// SPDX-License-Identifier: Apache-2.0

// Package kinds_test holds what areas and kinds say in manifests to what they do. It is apart from package manifests,
// which API types and arithmetic import. Otherwise "go mod tidy" of a program that uses these alone would ask for all
// that the tests need.
package kinds_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/availability/podunavailablebudget"
	distributionfake "github.com/podwright/podwright/distribution/client/fake"
	"github.com/podwright/podwright/distribution/image/imagepulljob"
	"github.com/podwright/podwright/distribution/image/nodeimage"
	"github.com/podwright/podwright/distribution/persistentpodstate"
	"github.com/podwright/podwright/distribution/resource"
	"github.com/podwright/podwright/distribution/workloadspread"
	"github.com/podwright/podwright/lifecycle/launchpriority"
	"github.com/podwright/podwright/lifecycle/probe/podprobemarker"
	"github.com/podwright/podwright/lifecycle/recreate"
	"github.com/podwright/podwright/nodeagent"
	"github.com/podwright/podwright/nodeagent/containermeta"
	nodeimages "github.com/podwright/podwright/nodeagent/image"
	nodeprobes "github.com/podwright/podwright/nodeagent/probe"
	noderecreate "github.com/podwright/podwright/nodeagent/recreate"
	"github.com/podwright/podwright/sidecar/sidecarset"
	"github.com/podwright/podwright/sidecar/terminator"
	"github.com/podwright/podwright/workloads"
	workloadsfake "github.com/podwright/podwright/workloads/client/fake"
	"github.com/podwright/podwright/workloads/cloneset"
	"github.com/podwright/podwright/workloads/cronjob"
	"github.com/podwright/podwright/workloads/daemonset"
	"github.com/podwright/podwright/workloads/statefulset"
	"github.com/podwright/podwright/workloads/uniteddeployment"
)

var (
	recorded = podwright.ControllerOptions{Recorders: func(string) record.EventRecorder { return &record.FakeRecorder{} }}
	informer = cache.NewSharedIndexInformer(nil, &corev1.Pod{}, 0, nil)
	kube     = kubernetes.NewForConfigOrDie(&rest.Config{}) // which is asked nothing
)

// The example program for nodes is granted exactly what its controllers say they need. Tests on real clusters hold
// their audit logs against that grant. The example manager holds its manifest to its table of kinds.
func TestRulesAreThoseOfThePrograms(t *testing.T) {
	for program, rules := range map[string][][]rbacv1.PolicyRule{
		"nodeagent/rbac/nodeagent.yaml": {
			containermeta.Rules(containermeta.Options{ControllerOptions: recorded}),
			noderecreate.Rules(noderecreate.Options{ControllerOptions: recorded}),
			nodeimages.Rules(nodeimages.Options{ControllerOptions: recorded}),
			nodeprobes.Rules(nodeprobes.Options{ControllerOptions: recorded}),
			nodeagent.RuntimeOfRules(),
		},
	} {
		t.Run(program, func(t *testing.T) {
			if diff := cmp.Diff(granted(t, program), allowed(slices.Concat(rules...))); diff != "" {
				t.Errorf("verbs by resource (-granted to the program +needed by its controllers):\n%s", diff)
			}
		})
	}
}

// What options switch changes the rules, as testdata/rules.txt shows.
func TestRulesFollowTheOptions(t *testing.T) {
	none := []rbacv1.PolicyRule(nil)
	late := workloads.NewLatePlacement("PersistentPodStates")
	if rules := late.Rules(); rules != nil {
		t.Errorf("what is not made yet needs %v", rules)
	}
	late.Set(new(persistentpodstate.Placer))
	clients := workloadsfake.NewClient()
	pairs := map[string][2][]rbacv1.PolicyRule{ // without and with the option
		"CloneSets without nodes": {cloneset.Rules(cloneset.Options{NoNodes: true}), cloneset.Rules(cloneset.Options{})},
		"CloneSets that pull images ahead": {
			cloneset.Rules(cloneset.Options{}),
			cloneset.Rules(cloneset.Options{Features: cloneset.Features{PreDownload: true}})},
		"StatefulSets that pull images ahead": {
			statefulset.Rules(statefulset.Options{}),
			statefulset.Rules(statefulset.Options{Features: statefulset.Features{PreDownload: true}})},
		"DaemonSets that pull images ahead": {
			daemonset.Rules(daemonset.Options{}),
			daemonset.Rules(daemonset.Options{Features: daemonset.Features{PreDownload: true}})},
		"CloneSets that ask budgets": {cloneset.Rules(cloneset.Options{}), cloneset.Rules(cloneset.Options{Budget: new(podunavailablebudget.Guard)})},
		"StatefulSets that ask budgets": {
			statefulset.Rules(statefulset.Options{}),
			statefulset.Rules(statefulset.Options{Budget: new(podunavailablebudget.Guard)})},
		"DaemonSets that ask budgets": {daemonset.Rules(daemonset.Options{}), daemonset.Rules(daemonset.Options{Budget: new(podunavailablebudget.Guard)})},
		"SidecarSets that ask budgets": {
			sidecarset.Rules(sidecarset.Options{}),
			sidecarset.Rules(sidecarset.Options{Budget: new(podunavailablebudget.Guard)})},
		"CloneSets that place their pods": {
			cloneset.Rules(cloneset.Options{}),
			cloneset.Rules(cloneset.Options{Placement: workloads.Placements{nil, new(persistentpodstate.Placer)}})},
		"StatefulSets that place their pods": {statefulset.Rules(statefulset.Options{}), statefulset.Rules(statefulset.Options{Placement: late})},
		"jobs in the order of CloneSets":     {imagepulljob.Rules(imagepulljob.Options{}), imagepulljob.Rules(imagepulljob.Options{CloneSets: informer})},
		"jobs in the order of StatefulSets": {
			imagepulljob.Rules(imagepulljob.Options{CloneSets: informer}),
			imagepulljob.Rules(imagepulljob.Options{Workloads: clients})},
		"a recorder of CloneSets":             {cloneset.Rules(cloneset.Options{}), cloneset.Rules(cloneset.Options{ControllerOptions: recorded})},
		"a recorder of StatefulSets":          {statefulset.Rules(statefulset.Options{}), statefulset.Rules(statefulset.Options{ControllerOptions: recorded})},
		"a recorder of DaemonSets":            {daemonset.Rules(daemonset.Options{}), daemonset.Rules(daemonset.Options{ControllerOptions: recorded})},
		"AdvancedCronJobs with BroadcastJobs": {cronjob.Rules(cronjob.Options{NoBroadcastJobs: true}), cronjob.Rules(cronjob.Options{})},
		"AdvancedCronJobs with ImageListPullJobs": {
			cronjob.Rules(cronjob.Options{}),
			cronjob.Rules(cronjob.Options{Distribution: distributionfake.NewClient()})},
		"a recorder of AdvancedCronJobs": {cronjob.Rules(cronjob.Options{}), cronjob.Rules(cronjob.Options{ControllerOptions: recorded})},
		"a recorder of launch priorities": {
			launchpriority.Rules(launchpriority.Options{}),
			launchpriority.Rules(launchpriority.Options{ControllerOptions: recorded})},
		"a recorder of the sidecar terminator": {
			terminator.Rules(terminator.Options{}),
			terminator.Rules(terminator.Options{ControllerOptions: recorded})},
		"a recorder of budgets": {
			podunavailablebudget.Rules(podunavailablebudget.Options{}),
			podunavailablebudget.Rules(podunavailablebudget.Options{ControllerOptions: recorded})},
		"budgets of CloneSets": {
			podunavailablebudget.Rules(podunavailablebudget.Options{}),
			podunavailablebudget.Rules(podunavailablebudget.Options{CloneSets: informer})},
		"budgets of Advanced StatefulSets": {
			podunavailablebudget.Rules(podunavailablebudget.Options{CloneSets: informer}),
			podunavailablebudget.Rules(podunavailablebudget.Options{Workloads: clients})},
		"a recorder of persistent pod states": {
			persistentpodstate.Rules(persistentpodstate.Options{}),
			persistentpodstate.Rules(persistentpodstate.Options{ControllerOptions: recorded})},
		"persistent pod states of Advanced StatefulSets": {
			persistentpodstate.Rules(persistentpodstate.Options{}),
			persistentpodstate.Rules(persistentpodstate.Options{Workloads: clients})},
		"persistent pod states of a kind of the white list": {
			persistentpodstate.Rules(persistentpodstate.Options{}),
			persistentpodstate.Rules(persistentpodstate.Options{Custom: []persistentpodstate.CustomKind{{Kind: schema.GroupVersionKind{Group: "game.kruise.io"}, Resource: "gameserversets"}}})},
		"a recorder of WorkloadSpreads": {
			workloadspread.Rules(workloadspread.Options{}),
			workloadspread.Rules(workloadspread.Options{ControllerOptions: recorded})},
		"WorkloadSpreads with nodes": {workloadspread.Rules(workloadspread.Options{NoNodes: true}), workloadspread.Rules(workloadspread.Options{})},
		"WorkloadSpreads of CloneSets": {
			workloadspread.Rules(workloadspread.Options{}),
			workloadspread.Rules(workloadspread.Options{CloneSets: informer})},
		"WorkloadSpreads of Advanced StatefulSets": {
			workloadspread.Rules(workloadspread.Options{CloneSets: informer}),
			workloadspread.Rules(workloadspread.Options{Workloads: clients})},
		"a recorder of NodeImages":                             {nodeimage.Rules(nodeimage.Options{}), nodeimage.Rules(nodeimage.Options{ControllerOptions: recorded})},
		"a recorder of ResourceDistributions":                  {resource.Rules(resource.Options{}), resource.Rules(resource.Options{ControllerOptions: recorded})},
		"ResourceDistributions that are judged in a dry run":   {(&resource.Webhook{}).Rules(), (&resource.Webhook{Kubernetes: kube}).Rules()},
		"a recorder of SidecarSets":                            {sidecarset.Rules(sidecarset.Options{}), sidecarset.Rules(sidecarset.Options{ControllerOptions: recorded})},
		"SidecarSets whose containers are judged in a dry run": {none, (&sidecarset.Webhook{Containers: &sidecarset.ContainerChecker{}}).Rules()},
		"a recorder of restarts":                               {containermeta.Rules(containermeta.Options{}), containermeta.Rules(containermeta.Options{ControllerOptions: recorded})},
		"a recorder of requests":                               {noderecreate.Rules(noderecreate.Options{}), noderecreate.Rules(noderecreate.Options{ControllerOptions: recorded})},
		"a recorder of images":                                 {nodeimages.Rules(nodeimages.Options{}), nodeimages.Rules(nodeimages.Options{ControllerOptions: recorded})},
		"a recorder of PodProbeMarkers": {
			podprobemarker.Rules(podprobemarker.Options{}),
			podprobemarker.Rules(podprobemarker.Options{ControllerOptions: recorded})},
		"a recorder of probes": {nodeprobes.Rules(nodeprobes.Options{}), nodeprobes.Rules(nodeprobes.Options{ControllerOptions: recorded})},
		"UnitedDeployments of Deployments": {
			uniteddeployment.Rules(uniteddeployment.Options{Without: []uniteddeployment.TemplateKind{uniteddeployment.StatefulSet, uniteddeployment.AdvancedStatefulSet, uniteddeployment.CloneSet, uniteddeployment.Deployment}}),
			uniteddeployment.Rules(uniteddeployment.Options{Without: []uniteddeployment.TemplateKind{uniteddeployment.StatefulSet, uniteddeployment.AdvancedStatefulSet, uniteddeployment.CloneSet}})},
		"UnitedDeployments with adaptive scheduling": {
			uniteddeployment.Rules(uniteddeployment.Options{}),
			uniteddeployment.Rules(uniteddeployment.Options{Features: uniteddeployment.Features{AdaptiveScheduling: true}})},
		"webhooks that check nothing": {none, (&cloneset.Webhook{}).Rules()},
		"webhooks without a dry run":  {none, (&statefulset.Webhook{}).Rules()},
		"webhooks without pods":       {none, (&recreate.Webhook{}).Rules()},
	}
	datadriven.RunTest(t, "testdata/rules.txt", func(*testing.T, *datadriven.TestData) string {
		var shown strings.Builder
		for _, name := range slices.Sorted(maps.Keys(pairs)) {
			fmt.Fprintf(&shown, "%s:\n", name)
			without, with := allowed(pairs[name][0]), allowed(pairs[name][1])
			all := maps.Clone(without)
			maps.Copy(all, with)
			for _, resource := range slices.Sorted(maps.Keys(all)) {
				if before, after := fmt.Sprint(without[resource]), fmt.Sprint(with[resource]); before != after {
					fmt.Fprintf(&shown, "  %s %s, before %s\n", resource, after, before)
				}
			}
		}
		return shown.String()
	})
}

// allowed is what rules allow, the verbs by group and resource.
func allowed(rules []rbacv1.PolicyRule) map[string][]string {
	all := map[string][]string{}
	for _, rule := range rules {
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				verbs := append(all[group+"/"+resource], rule.Verbs...)
				slices.Sort(verbs)
				all[group+"/"+resource] = slices.Compact(verbs)
			}
		}
	}
	return all
}

// granted is what the ClusterRole of a program allows to its controllers: what it
// registers and installs itself stands apart.
func granted(t *testing.T, program string) map[string][]string {
	manifest, err := os.ReadFile("../../../examples/" + program)
	if err != nil {
		t.Fatal(err)
	}
	for document := range bytes.SplitSeq(manifest, []byte("---\n")) {
		var role rbacv1.ClusterRole
		if err := yaml.Unmarshal(document, &role); err != nil {
			t.Fatal(err)
		}
		if role.Kind == "ClusterRole" {
			return allowed(slices.DeleteFunc(role.Rules, func(rule rbacv1.PolicyRule) bool {
				return strings.HasSuffix(rule.APIGroups[0], "registration.k8s.io") || rule.APIGroups[0] == "apiextensions.k8s.io"
			}))
		}
	}
	t.Fatalf("%s has no ClusterRole", program)
	return nil
}
