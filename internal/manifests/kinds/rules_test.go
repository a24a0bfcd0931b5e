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
	"reflect"
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
	needed := slices.Concat(
		containermeta.Rules(containermeta.Options{ControllerOptions: recorded}),
		noderecreate.Rules(noderecreate.Options{ControllerOptions: recorded}),
		nodeimages.Rules(nodeimages.Options{ControllerOptions: recorded}),
		nodeprobes.Rules(nodeprobes.Options{ControllerOptions: recorded}),
		nodeagent.RuntimeOfRules(),
	)
	if diff := cmp.Diff(granted(t, "nodeagent/rbac/nodeagent.yaml"), allowed(needed)); diff != "" {
		t.Errorf("verbs by resource (-granted to the program +needed by its controllers):\n%s", diff)
	}
}

// given are values of options, by the names of their fields. A switch needs none.
func given() map[string]any {
	placement := workloads.NewLatePlacement("PersistentPodStates")
	placement.Set(new(persistentpodstate.Placer))
	return map[string]any{
		"Recorders": recorded.Recorders, "Kubernetes": kube, "Budget": new(podunavailablebudget.Guard), "CloneSets": informer,
		"Workloads": workloadsfake.NewClient(), "Distribution": distributionfake.NewClient(), "Containers": &sidecarset.ContainerChecker{},
		"Placement": workloads.Placements{nil, placement},
		"Custom":    []persistentpodstate.CustomKind{{Kind: schema.GroupVersionKind{Group: "game.kruise.io"}, Resource: "gameserversets"}},
	}
}

// ruled returns the rules of options, or of a webhook, in which the named fields are set.
type ruled func(t *testing.T, fields string) []rbacv1.PolicyRule

func of[O any](rules func(O) []rbacv1.PolicyRule) ruled {
	return ofPointer(func(o *O) []rbacv1.PolicyRule { return rules(*o) })
}

func ofPointer[O any](rules func(*O) []rbacv1.PolicyRule) ruled {
	return func(t *testing.T, fields string) []rbacv1.PolicyRule {
		o, values := new(O), given()
		for name := range strings.FieldsSeq(fields) {
			name, list, _ := strings.Cut(name, "=")
			field := reflect.ValueOf(o).Elem()
			for step := range strings.SplitSeq(name, ".") {
				field = field.FieldByName(step)
			}
			switch value := values[name]; {
			case !field.IsValid():
				t.Fatalf("there is no option %s", name)
			case field.Kind() == reflect.Bool:
				field.SetBool(true)
			case list != "":
				for element := range strings.SplitSeq(list, ",") {
					field.Set(reflect.Append(field, reflect.ValueOf(element).Convert(field.Type().Elem())))
				}
			default:
				field.Set(reflect.ValueOf(value))
			}
		}
		return rules(o)
	}
}

// What options switch changes the rules, as testdata/rules.txt shows.
func TestRulesFollowTheOptions(t *testing.T) {
	if rules := workloads.NewLatePlacement("PersistentPodStates").Rules(); rules != nil {
		t.Errorf("what is not made yet needs %v", rules)
	}
	kinds := map[string]ruled{
		"CloneSet": of(cloneset.Rules), "StatefulSet": of(statefulset.Rules), "DaemonSet": of(daemonset.Rules), "SidecarSet": of(sidecarset.Rules),
		"ImagePullJob": of(imagepulljob.Rules), "AdvancedCronJob": of(cronjob.Rules), "LaunchPriority": of(launchpriority.Rules),
		"SidecarTerminator": of(terminator.Rules), "PodUnavailableBudget": of(podunavailablebudget.Rules), "WorkloadSpread": of(workloadspread.Rules),
		"PersistentPodState": of(persistentpodstate.Rules), "NodeImage": of(nodeimage.Rules), "ResourceDistribution": of(resource.Rules),
		"PodProbeMarker": of(podprobemarker.Rules), "UnitedDeployment": of(uniteddeployment.Rules),
		"AgentOfRestarts": of(containermeta.Rules), "AgentOfRequests": of(noderecreate.Rules),
		"AgentOfImages": of(nodeimages.Rules), "AgentOfProbes": of(nodeprobes.Rules),
		"SidecarSetWebhook": ofPointer((*sidecarset.Webhook).Rules), "ResourceDistributionWebhook": ofPointer((*resource.Webhook).Rules),
		"CloneSetWebhook": ofPointer((*cloneset.Webhook).Rules), "StatefulSetWebhook": ofPointer((*statefulset.Webhook).Rules),
		"ContainerRecreateRequestWebhook": ofPointer((*recreate.Webhook).Rules),
	}
	datadriven.RunTest(t, "testdata/rules.txt", func(t *testing.T, d *datadriven.TestData) string {
		var shown strings.Builder
		for line := range strings.Lines(d.Input) {
			row, name, _ := strings.Cut(line, "# ")
			before, after, _ := strings.Cut(row, "|")
			kind, before, _ := strings.Cut(before, " ")
			fmt.Fprintf(&shown, "%s %s:\n", kind, strings.TrimSpace(name))
			without, with := allowed(kinds[kind](t, before)), allowed(kinds[kind](t, after))
			all := maps.Clone(without)
			maps.Copy(all, with)
			for _, resource := range slices.Sorted(maps.Keys(all)) {
				if was, is := fmt.Sprint(without[resource]), fmt.Sprint(with[resource]); was != is || strings.TrimSpace(before+after) == "" {
					fmt.Fprintf(&shown, "  %s %s, before %s\n", resource, is, was)
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
