// SPDX-License-Identifier: Apache-2.0

package uniteddeployment

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/testing/conformance"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/internal/testing/patches"
	"github.com/podwright/podwright/workloads/client/fake"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

var controllers = fixture.Package[Options, Snapshot, Plan]{New: New, Acts: func(p *Plan) bool { return p.String() != "" }}

// TestConformance has two subsets, of which one is replaced while the image and the number of pods change.
func TestConformance(t *testing.T) {
	for _, kind := range kinds {
		t.Run(string(kind), func(t *testing.T) { conformance.Test(t, conforming(t, kind)) })
	}
}

// TestAdaptiveConformance is the same with the option AdaptiveScheduling: there are limits, and no nodes for the subset that comes, whose
// pods are reserved.
func TestAdaptiveConformance(t *testing.T) {
	const strategy = `"scheduleStrategy":{"type":"Adaptive","adaptive":{"rescheduleCriticalSeconds":0,"unschedulableDuration":86400,"reserveUnschedulablePods":true}}`
	for turn, kind := range []TemplateKind{CloneSet, AdvancedStatefulSet} {
		t.Run(string(kind), func(t *testing.T) {
			k := conforming(t, kind, func(o *Options) { o.Features.AdaptiveScheduling = true })
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
func conforming(t *testing.T, kind TemplateKind, change ...func(*Options)) conformance.Subject {
	t.Helper()
	resource := resources[kind]
	without := slices.DeleteFunc(slices.Clone(kinds), func(k TemplateKind) bool { return k == kind })
	return conformance.Subject{
		Turn: slices.Index(kinds, kind), Turns: len(kinds),
		Resource: setResource, More: []fakecluster.Resource{resource},
		Watches: []string{"uniteddeployments", resource.Name, "controllerrevisions", "pods"},
		Writes: []string{"create controllerrevisions", "create " + resource.Name, "patch " + resource.Name, "delete " + resource.Name,
			"patch uniteddeployments/status", "delete controllerrevisions"},
		Unasked: map[string]string{"*": "which rights a scenario uses depends on its kind of template, and on what it changes"},
		New: func(c *conformance.Cluster) (conformance.Controller, error) {
			o := Options{Kubernetes: c.Client(fixture.ControllerUser), Workloads: newClient(c.T, c.Server, fixture.ControllerUser), Without: without,
				ControllerOptions: podwright.ControllerOptions{Metrics: c.Reconciles, Recorders: c.Events.Of}}
			for _, edit := range change {
				edit(&o)
			}
			for _, read := range o.reads() {
				*read.Informer = c.Share(read.MakeInformer())
			}
			return conformance.Made(controllers, o, Rules(o))
		},
		Create: func(c *conformance.Cluster, name string) {
			set := newSetOf(c.T, kind, "replicas: 3\nrevisionHistoryLimit: 0\nselector: {matchLabels: {app: "+name+"}}")
			set.Name = name
			c.Create(json.RawMessage(strings.ReplaceAll(patches.JSON(c.T, set), `"demo"`, `"`+name+`"`)), "")
		},
		Change: func(c *conformance.Cluster, name string) {
			template := strings.NewReplacer("app: demo", "app: "+name, "nginx:1.21", "nginx:2").Replace(templateYAML(kind, ""))
			c.EditNamed(name, string(toJSON(c.T, "spec: {replicas: 4, topology: {subsets: [{name: b}, {name: c}]}, "+template+"}")))
		},
		Step: func(c *conformance.Cluster) { work(c.Cluster, kind); c.KubeletStep() },
		Outcome: func(c *conformance.Cluster, name string) string {
			set := setOf(c.Cluster, name)
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
				c.Object("patch", pathOf(kind, w.Name, "status"), fmt.Sprintf(`{"status":{"collisionCount":%d}}`, i))
				c.Object("patch", pathOf(kind, w.Name), fmt.Sprintf(`{"metadata":{"annotations":{"noise":"%d"}}}`, i))
			}
			c.Heartbeat(i)
		},
	}
}

func TestOptions(t *testing.T) {
	good := Options{Kubernetes: kubernetes.NewForConfigOrDie(&rest.Config{}), Workloads: fake.NewClient()}
	conformance.CheckOptions(t, conformance.Options[Options]{
		Good: good, Required: "Kubernetes Workloads",
		New:           func(o Options) error { _, err := New(o); return err },
		NewReconciler: func(o Options) error { _, err := NewReconciler(o); return err }})
	good.Without = []TemplateKind{"DaemonSet"}
	if _, err := New(good); err == nil || !strings.Contains(err.Error(), `uniteddeployment: Options.Without names "DaemonSet"`) {
		t.Errorf("error %v", err)
	}
}
