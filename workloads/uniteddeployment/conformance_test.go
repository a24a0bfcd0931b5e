// SPDX-License-Identifier: Apache-2.0

package uniteddeployment_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/testing/conformance"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/client/fake"
	"github.com/podwright/podwright/workloads/uniteddeployment"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// TestConformance has two subsets, of which one is replaced while the image and the number of pods change.
func TestConformance(t *testing.T) {
	for kind := range resources {
		t.Run(string(kind), func(t *testing.T) { conformance.Test(t, conforming(t, kind)) })
	}
}

// TestAdaptiveConformance is the same with the option AdaptiveScheduling: there are limits, and no nodes for the subset that comes, whose
// pods are reserved.
func TestAdaptiveConformance(t *testing.T) {
	const strategy = `"scheduleStrategy":{"type":"Adaptive","adaptive":{"rescheduleCriticalSeconds":0,"unschedulableDuration":86400,"reserveUnschedulablePods":true}}`
	for turn, kind := range []uniteddeployment.TemplateKind{uniteddeployment.CloneSet, uniteddeployment.AdvancedStatefulSet} {
		t.Run(string(kind), func(t *testing.T) {
			k := conforming(t, kind, func(o *uniteddeployment.Options) { o.Features.AdaptiveScheduling = true })
			k.Turn, k.Turns, k.Writes = turn, 2, append(k.Writes, "patch pods")
			change, step, outcome := k.Change, k.Step, k.Outcome
			k.Change = func(c *conformance.Cluster, name string) {
				c.EditNamed(name, `{"spec":{"topology":{`+strategy+`}}}`)
				change(c, name)
				c.EditNamed(name, `{"spec":{"topology":{"subsets":[{"name":"b","minReplicas":1},{"name":"c","minReplicas":2}],`+strategy+`}}}`)
			}
			k.Step = func(c *conformance.Cluster) {
				c.Kubelet.Schedule = func(pod *corev1.Pod) string {
					if pod.Labels[v1alpha1.SubsetNameLabel] == "c" {
						return ""
					}
					return "node-" + pod.Name
				}
				step(c)
				reportUnschedulable(c.Cluster)
			}
			k.Outcome = func(c *conformance.Cluster, name string) string {
				reserved := 0
				for _, pod := range c.Pods() {
					if pod.Labels[v1alpha1.ReservedPodLabel] == "true" && strings.HasPrefix(pod.Name, name+"-") {
						reserved++
					}
				}
				return fmt.Sprint(outcome(c, name), ", ", reserved, " reserved")
			}
			conformance.Test(t, k)
		})
	}
}

// conforming describes UnitedDeployments of a kind of workloads.
func conforming(t *testing.T, kind uniteddeployment.TemplateKind, change ...func(*uniteddeployment.Options)) conformance.Subject {
	t.Helper()
	resource := resources[kind]
	all := []uniteddeployment.TemplateKind{uniteddeployment.StatefulSet, uniteddeployment.AdvancedStatefulSet, uniteddeployment.CloneSet, uniteddeployment.Deployment}
	without := slices.DeleteFunc(slices.Clone(all), func(k uniteddeployment.TemplateKind) bool { return k == kind })
	return conformance.Subject{
		Turn: slices.Index(all, kind), Turns: len(all),
		Resource: setResource, More: []fakecluster.Resource{resource},
		Watches: []string{"uniteddeployments", resource.Name, "controllerrevisions", "pods"},
		Writes: []string{"create controllerrevisions", "create " + resource.Name, "patch " + resource.Name, "delete " + resource.Name,
			"patch uniteddeployments/status", "delete controllerrevisions"},
		Unasked: map[string]string{"*": "which rights a scenario uses depends on its kind of template, and on what it changes"},
		New: func(c *conformance.Cluster) (conformance.Controller, error) {
			kube, workloads := c.Client(fixture.ControllerUser), newClient(c.T, c.Server, fixture.ControllerUser)
			core := caches.NewInformers(kube, "")
			o := uniteddeployment.Options{Kubernetes: kube, Workloads: workloads, Without: without, ControllerOptions: podwright.ControllerOptions{Metrics: c.Reconciles, Recorders: c.Events.Of},
				UnitedDeployments: c.Share(client.NewUnitedDeploymentInformer(workloads, "", 0, cache.Indexers{})),
				Revisions:         c.Share(core.Revisions()), Pods: c.Share(core.Pods())}
			switch kind {
			case uniteddeployment.StatefulSet:
				o.StatefulSets = c.Share(core.StatefulSets())
			case uniteddeployment.AdvancedStatefulSet:
				o.AdvancedStatefulSets = c.Share(client.NewStatefulSetInformer(workloads, "", 0, cache.Indexers{}))
			case uniteddeployment.CloneSet:
				o.CloneSets = c.Share(client.NewCloneSetInformer(workloads, "", 0, cache.Indexers{}))
			default:
				o.Deployments = c.Share(core.Deployments())
			}
			for _, edit := range change {
				edit(&o)
			}
			controller, err := uniteddeployment.New(o)
			c.Must(err)
			return conformance.Controller{Memory: controller, Rules: uniteddeployment.Rules(o), Run: controller.Run, Next: func(key types.NamespacedName) (string, error) {
				plan, err := controller.Plan(c.T.Context(), key)
				if err != nil || plan == nil {
					return "", err
				}
				return plan.String(), nil
			}}, nil
		},
		Create: func(c *conformance.Cluster, name string) {
			set := newSet(c.T, kind, name, "replicas: 3\nrevisionHistoryLimit: 0\nselector: {matchLabels: {app: "+name+"}}")
			data, err := json.Marshal(set)
			c.Must(err)
			c.Create(json.RawMessage(strings.ReplaceAll(string(data), `"demo"`, `"`+name+`"`)), "")
		},
		Change: func(c *conformance.Cluster, name string) {
			set := newSet(c.T, kind, name, "replicas: 4\ntopology: {subsets: [{name: b}, {name: c}]}")
			data, err := json.Marshal(set.Spec.Template)
			c.Must(err)
			text := strings.ReplaceAll(strings.ReplaceAll(string(data), `"demo"`, `"`+name+`"`), "nginx:1", "nginx:2")
			c.EditNamed(name, `{"spec":{"replicas":4,"topology":{"subsets":[{"name":"b"},{"name":"c"}]},"template":`+text+`}}`)
		},
		Step: func(c *conformance.Cluster) { work(c.Cluster, kind); c.KubeletStep() },
		Outcome: func(c *conformance.Cluster, name string) string {
			set, err := newClient(c.T, c.Server, fixture.TestUser).UnitedDeployments(fixture.Web.Namespace).Get(c.T.Context(), name, metav1.GetOptions{})
			c.Must(err)
			var all []string
			for _, w := range workloadsOf(c.Cluster, kind) {
				if strings.HasPrefix(w.Name, name+"-") {
					all = append(all, fmt.Sprint(w.subset(), ": ", w.Spec.Replicas, " of ", w.image()))
				}
			}
			s := &set.Status
			return fmt.Sprint(all, " status ", s.Replicas, s.ReadyReplicas, s.UpdatedReplicas, s.UpdatedReadyReplicas, s.SubsetReplicas,
				s.UpdateStatus.UpdatedRevision == s.CurrentRevision, s.ObservedGeneration)
		},
		Noise: func(c *conformance.Cluster, i int) {
			for _, w := range workloadsOf(c.Cluster, kind) {
				patch(c.Cluster, kind, w.Name, fmt.Sprintf(`{"status":{"collisionCount":%d}}`, i), "status")
				patch(c.Cluster, kind, w.Name, fmt.Sprintf(`{"metadata":{"annotations":{"noise":"%d"}}}`, i))
			}
			c.Heartbeat(i)
		},
	}
}

func TestOptions(t *testing.T) {
	good := uniteddeployment.Options{Kubernetes: kubernetes.NewForConfigOrDie(&rest.Config{}), Workloads: fake.NewClient()}
	conformance.CheckOptions(t, conformance.Options[uniteddeployment.Options]{
		Good: good, Required: "Kubernetes Workloads",
		New:           func(o uniteddeployment.Options) error { _, err := uniteddeployment.New(o); return err },
		NewReconciler: func(o uniteddeployment.Options) error { _, err := uniteddeployment.NewReconciler(o); return err }})
	good.Without = []uniteddeployment.TemplateKind{"DaemonSet"}
	if _, err := uniteddeployment.New(good); err == nil || !strings.Contains(err.Error(), `uniteddeployment: Options.Without names "DaemonSet"`) {
		t.Errorf("error %v", err)
	}
}
