// SPDX-License-Identifier: Apache-2.0

// Package kinds_test holds what areas and kinds say in manifests to what they do. It is apart from package manifests,
// which API types and arithmetic import. Otherwise "go mod tidy" of a program that uses these alone would ask for all
// that the tests need.
package kinds_test

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

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
	recorder = func(string) record.EventRecorder { return &record.FakeRecorder{} }
	informer = cache.NewSharedIndexInformer(nil, &corev1.Pod{}, 0, nil)
	kube     = kubernetes.NewForConfigOrDie(&rest.Config{}) // which is asked nothing
)

// The example program for nodes is granted exactly what its controllers say they need. Tests on real clusters hold
// their audit logs against that grant. The example manager holds its manifest to its table of kinds.
func TestRulesAreThoseOfThePrograms(t *testing.T) {
	for program, rules := range map[string][][]rbacv1.PolicyRule{
		"nodeagent/rbac/nodeagent.yaml": {
			containermeta.Rules(containermeta.Options{ControllerOptions: podwright.ControllerOptions{Recorders: recorder}}),
			noderecreate.Rules(noderecreate.Options{ControllerOptions: podwright.ControllerOptions{Recorders: recorder}}),
			nodeimages.Rules(nodeimages.Options{ControllerOptions: podwright.ControllerOptions{Recorders: recorder}}),
			nodeprobes.Rules(nodeprobes.Options{ControllerOptions: podwright.ControllerOptions{Recorders: recorder}}),
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

// What options switch changes the rules.
func TestRulesFollowTheOptions(t *testing.T) {
	none := []rbacv1.PolicyRule(nil)
	late := workloads.NewLatePlacement("PersistentPodStates")
	if rules := late.Rules(); rules != nil {
		t.Errorf("what is not made yet needs %v", rules)
	}
	late.Set(new(persistentpodstate.Placer))
	clients := workloadsfake.NewClient()
	for name, tt := range map[string]struct {
		without, with []rbacv1.PolicyRule
		more          map[string][]string
	}{
		"CloneSets without nodes": {
			cloneset.Rules(cloneset.Options{NoNodes: true}), cloneset.Rules(cloneset.Options{}),
			map[string][]string{"/nodes": {"list", "watch"}}},
		"CloneSets that pull images ahead": {
			cloneset.Rules(cloneset.Options{}), cloneset.Rules(cloneset.Options{Features: cloneset.Features{PreDownload: true}}),
			map[string][]string{"apps.kruise.io/imagepulljobs": {"create", "delete", "list", "watch"}}},
		"StatefulSets that pull images ahead": {
			statefulset.Rules(statefulset.Options{}), statefulset.Rules(statefulset.Options{Features: statefulset.Features{PreDownload: true}}),
			map[string][]string{"apps.kruise.io/imagepulljobs": {"create", "delete", "list", "watch"}}},
		"DaemonSets that pull images ahead": {
			daemonset.Rules(daemonset.Options{}), daemonset.Rules(daemonset.Options{Features: daemonset.Features{PreDownload: true}}),
			map[string][]string{"apps.kruise.io/imagepulljobs": {"create", "delete", "list", "watch"}}},
		"CloneSets that ask budgets": {
			cloneset.Rules(cloneset.Options{}), cloneset.Rules(cloneset.Options{Budget: new(podunavailablebudget.Guard)}), guarded},
		"StatefulSets that ask budgets": {
			statefulset.Rules(statefulset.Options{}), statefulset.Rules(statefulset.Options{Budget: new(podunavailablebudget.Guard)}), guarded},
		"DaemonSets that ask budgets": {
			daemonset.Rules(daemonset.Options{}), daemonset.Rules(daemonset.Options{Budget: new(podunavailablebudget.Guard)}), guarded},
		"SidecarSets that ask budgets": {
			sidecarset.Rules(sidecarset.Options{}), sidecarset.Rules(sidecarset.Options{Budget: new(podunavailablebudget.Guard)}), guarded},
		"CloneSets that place their pods": {
			cloneset.Rules(cloneset.Options{}), cloneset.Rules(cloneset.Options{Placement: workloads.Placements{nil, new(persistentpodstate.Placer)}}), placed},
		"StatefulSets that place their pods": {
			statefulset.Rules(statefulset.Options{}), statefulset.Rules(statefulset.Options{Placement: late}), placed},
		"jobs in the order of CloneSets": {
			imagepulljob.Rules(imagepulljob.Options{}), imagepulljob.Rules(imagepulljob.Options{CloneSets: informer}),
			map[string][]string{"apps.kruise.io/clonesets": {"list", "watch"}}},
		"jobs in the order of StatefulSets": {
			imagepulljob.Rules(imagepulljob.Options{CloneSets: informer}), imagepulljob.Rules(imagepulljob.Options{Workloads: clients}),
			map[string][]string{"apps.kruise.io/statefulsets": {"list", "watch"}}},
		"a recorder of CloneSets": {
			cloneset.Rules(cloneset.Options{}), cloneset.Rules(cloneset.Options{ControllerOptions: podwright.ControllerOptions{Recorders: recorder}}), events},
		"a recorder of StatefulSets": {
			statefulset.Rules(statefulset.Options{}), statefulset.Rules(statefulset.Options{ControllerOptions: podwright.ControllerOptions{Recorders: recorder}}), events},
		"a recorder of DaemonSets": {
			daemonset.Rules(daemonset.Options{}), daemonset.Rules(daemonset.Options{ControllerOptions: podwright.ControllerOptions{Recorders: recorder}}), events},
		"AdvancedCronJobs with BroadcastJobs": {
			cronjob.Rules(cronjob.Options{NoBroadcastJobs: true}), cronjob.Rules(cronjob.Options{}),
			map[string][]string{"apps.kruise.io/broadcastjobs": {"create", "delete", "get", "list", "patch", "watch"}}},
		"AdvancedCronJobs with ImageListPullJobs": {
			cronjob.Rules(cronjob.Options{}), cronjob.Rules(cronjob.Options{Distribution: distributionfake.NewClient()}),
			map[string][]string{"apps.kruise.io/imagelistpulljobs": {"create", "delete", "get", "list", "patch", "watch"}}},
		"a recorder of AdvancedCronJobs": {
			cronjob.Rules(cronjob.Options{}), cronjob.Rules(cronjob.Options{ControllerOptions: podwright.ControllerOptions{Recorders: recorder}}), events},
		"a recorder of launch priorities": {
			launchpriority.Rules(launchpriority.Options{}), launchpriority.Rules(launchpriority.Options{ControllerOptions: podwright.ControllerOptions{Recorders: recorder}}), events},
		"a recorder of the sidecar terminator": {
			terminator.Rules(terminator.Options{}), terminator.Rules(terminator.Options{ControllerOptions: podwright.ControllerOptions{Recorders: recorder}}), events},
		"a recorder of budgets": {
			podunavailablebudget.Rules(podunavailablebudget.Options{}), podunavailablebudget.Rules(podunavailablebudget.Options{ControllerOptions: podwright.ControllerOptions{Recorders: recorder}}), events},
		"budgets of CloneSets": {
			podunavailablebudget.Rules(podunavailablebudget.Options{}), podunavailablebudget.Rules(podunavailablebudget.Options{CloneSets: informer}),
			map[string][]string{"apps.kruise.io/clonesets": {"list", "watch"}}},
		"budgets of Advanced StatefulSets": {
			podunavailablebudget.Rules(podunavailablebudget.Options{CloneSets: informer}), podunavailablebudget.Rules(podunavailablebudget.Options{Workloads: clients}),
			map[string][]string{"apps.kruise.io/statefulsets": {"list", "watch"}}},
		"a recorder of persistent pod states": {
			persistentpodstate.Rules(persistentpodstate.Options{}), persistentpodstate.Rules(persistentpodstate.Options{ControllerOptions: podwright.ControllerOptions{Recorders: recorder}}), events},
		"persistent pod states of Advanced StatefulSets": {
			persistentpodstate.Rules(persistentpodstate.Options{}), persistentpodstate.Rules(persistentpodstate.Options{Workloads: clients}),
			map[string][]string{"apps.kruise.io/statefulsets": {"list", "watch"}}},
		"persistent pod states of a kind of the white list": {
			persistentpodstate.Rules(persistentpodstate.Options{}),
			persistentpodstate.Rules(persistentpodstate.Options{Custom: []persistentpodstate.CustomKind{{Kind: schema.GroupVersionKind{Group: "game.kruise.io"}, Resource: "gameserversets"}}}),
			map[string][]string{"game.kruise.io/gameserversets": {"list", "watch"}}},
		"a recorder of WorkloadSpreads": {
			workloadspread.Rules(workloadspread.Options{}), workloadspread.Rules(workloadspread.Options{ControllerOptions: podwright.ControllerOptions{Recorders: recorder}}), events},
		"WorkloadSpreads with nodes": {
			workloadspread.Rules(workloadspread.Options{NoNodes: true}), workloadspread.Rules(workloadspread.Options{}), map[string][]string{"/nodes": {"list", "watch"}}},
		"WorkloadSpreads of CloneSets": {
			workloadspread.Rules(workloadspread.Options{}), workloadspread.Rules(workloadspread.Options{CloneSets: informer}),
			map[string][]string{"apps.kruise.io/clonesets": {"list", "watch"}}},
		"WorkloadSpreads of Advanced StatefulSets": {
			workloadspread.Rules(workloadspread.Options{CloneSets: informer}), workloadspread.Rules(workloadspread.Options{Workloads: clients}),
			map[string][]string{"apps.kruise.io/statefulsets": {"list", "watch"}}},
		"a recorder of NodeImages": {
			nodeimage.Rules(nodeimage.Options{}), nodeimage.Rules(nodeimage.Options{ControllerOptions: podwright.ControllerOptions{Recorders: recorder}}), events},
		"a recorder of ResourceDistributions": {
			resource.Rules(resource.Options{}), resource.Rules(resource.Options{ControllerOptions: podwright.ControllerOptions{Recorders: recorder}}), events},
		"ResourceDistributions that are judged in a dry run": {
			(&resource.Webhook{}).Rules(), (&resource.Webhook{Kubernetes: kube}).Rules(), map[string][]string{"/configmaps": {"create"}, "/secrets": {"create"}}},
		"a recorder of SidecarSets": {
			sidecarset.Rules(sidecarset.Options{}), sidecarset.Rules(sidecarset.Options{ControllerOptions: podwright.ControllerOptions{Recorders: recorder}}), events},
		"SidecarSets whose containers are judged in a dry run": {
			none, (&sidecarset.Webhook{Containers: &sidecarset.ContainerChecker{}}).Rules(), map[string][]string{"/podtemplates": {"create"}}},
		"a recorder of restarts": {
			containermeta.Rules(containermeta.Options{}), containermeta.Rules(containermeta.Options{ControllerOptions: podwright.ControllerOptions{Recorders: recorder}}), events},
		"a recorder of requests": {
			noderecreate.Rules(noderecreate.Options{}), noderecreate.Rules(noderecreate.Options{ControllerOptions: podwright.ControllerOptions{Recorders: recorder}}), events},
		"a recorder of images": {
			nodeimages.Rules(nodeimages.Options{}), nodeimages.Rules(nodeimages.Options{ControllerOptions: podwright.ControllerOptions{Recorders: recorder}}), events},
		"a recorder of PodProbeMarkers": {
			podprobemarker.Rules(podprobemarker.Options{}), podprobemarker.Rules(podprobemarker.Options{ControllerOptions: podwright.ControllerOptions{Recorders: recorder}}), events},
		"a recorder of probes": {
			nodeprobes.Rules(nodeprobes.Options{}), nodeprobes.Rules(nodeprobes.Options{ControllerOptions: podwright.ControllerOptions{Recorders: recorder}}), events},
		"UnitedDeployments of Deployments": {
			uniteddeployment.Rules(uniteddeployment.Options{Without: []uniteddeployment.TemplateKind{uniteddeployment.StatefulSet, uniteddeployment.AdvancedStatefulSet, uniteddeployment.CloneSet, uniteddeployment.Deployment}}),
			uniteddeployment.Rules(uniteddeployment.Options{Without: []uniteddeployment.TemplateKind{uniteddeployment.StatefulSet, uniteddeployment.AdvancedStatefulSet, uniteddeployment.CloneSet}}),
			map[string][]string{"apps/deployments": {"create", "delete", "get", "list", "patch", "watch"}}},
		"UnitedDeployments with adaptive scheduling": {
			uniteddeployment.Rules(uniteddeployment.Options{}), uniteddeployment.Rules(uniteddeployment.Options{Features: uniteddeployment.Features{AdaptiveScheduling: true}}),
			map[string][]string{"/pods": {"delete", "get", "list", "patch", "watch"}}},
		"webhooks that check nothing": {none, (&cloneset.Webhook{}).Rules(), nil},
		"webhooks without a dry run":  {none, (&statefulset.Webhook{}).Rules(), nil},
		"webhooks without pods":       {none, (&recreate.Webhook{}).Rules(), nil},
	} {
		t.Run(name, func(t *testing.T) {
			want := allowed(tt.without)
			for resource, verbs := range tt.more {
				want[resource] = verbs
			}
			if diff := cmp.Diff(want, allowed(tt.with)); diff != "" {
				t.Errorf("verbs by resource (-want +got):\n%s", diff)
			}
		})
	}
}

// What Guards and Placers need.
var (
	guarded = map[string][]string{"policy.kruise.io/podunavailablebudgets": {"get", "list", "watch"}, "policy.kruise.io/podunavailablebudgets/status": {"patch"}}
	placed  = map[string][]string{"apps.kruise.io/persistentpodstates": {"list", "watch"}, "/nodes": {"list", "watch"}}
)

var events = map[string][]string{"/events": {"create", "patch"}}

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
