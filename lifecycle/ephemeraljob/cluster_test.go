// SPDX-License-Identifier: Apache-2.0

package ephemeraljob

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/lifecycle/client"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

var (
	web         = fixture.Web
	jobResource = fakecluster.CustomResource(v1alpha1.SchemeGroupVersion.WithKind(kind), "ephemeraljobs")
)

var tested = fixture.Package[Options, Snapshot, Plan]{New: New, NewReconciler: NewReconciler, Acts: acts,
	Plan: func(p *Plan) *rollout.Plan { return &rollout.Plan{Waiting: p.Waiting} }}

// acts tells whether a plan does anything at all.
func acts(p *Plan) bool {
	return len(p.Inject) > 0 || p.Status != nil || p.DeleteJob || p.AddFinalizer || p.RemoveFinalizer
}

// cluster is a fake cluster with EphemeralJobs.
type cluster struct {
	*fixture.Kind[Options, Snapshot, Plan]
	measured counted
	// ends says how a container goes on, which runs: "exit0", "exit1" or "running". Nil: all exit with 0.
	ends func(pod string) string
}

func newCluster(f *fixture.Cluster) *cluster {
	c := &cluster{}
	jobs := connect(f, fixture.ControllerUser)
	o := Options{
		Kubernetes: f.Client(fixture.ControllerUser), Lifecycle: jobs, ControllerOptions: podwright.ControllerOptions{Recorders: f.Events.Of}, JobMetrics: &c.measured,
		EphemeralJobs: f.Add(client.NewEphemeralJobInformer(jobs, "", 0, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})),
		Pods:          f.PodInformer(),
	}
	o.Reader = controller.Caches(o.reads())
	c.Kind = fixture.NewKind(f, tested, o)
	return c
}

func connect(f *fixture.Cluster, user string) client.Interface {
	return fixture.Connect(f.T, f.Server, user, client.NewForConfig)
}

// testJob is a job as a user creates it, for the pods of the label app=NAME.
func testJob(name string) *v1alpha1.EphemeralJob {
	job := newJob()
	job.Name, job.UID, job.Generation, job.Finalizers, job.Status = name, "", 0, nil, v1alpha1.EphemeralJobStatus{}
	job.Spec.Selector.MatchLabels["app"] = name
	return job
}

// addPods creates running pods of the label app=web, one a second.
func (c *cluster) addPods(names ...string) {
	c.T.Helper()
	for _, name := range names {
		app, _, _ := strings.Cut(name, "-")
		c.CreatePod(podOn("node-1", name, app))
		c.Sleep("1s")
	}
}

// podOn is a pod on a node, as a user creates it.
func podOn(node, name, app string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: web.Namespace, Name: name, Labels: map[string]string{"app": app}},
		Spec: corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Name: "main", Image: "web:1"}}}}
}

func (c *cluster) get(name string) *v1alpha1.EphemeralJob {
	c.T.Helper()
	job, err := connect(c.Cluster, fixture.TestUser).EphemeralJobs(web.Namespace).Get(c.T.Context(), name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	c.Must(err)
	return job
}

// nodeStep has kubelets make a step for every ephemeral container: run it, end it.
func (c *cluster) nodeStep() {
	c.T.Helper()
	for _, pod := range c.Pods() {
		if pod.DeletionTimestamp != nil {
			c.RemovePod(pod.Name)
			continue
		}
		changed := goOn(&pod, func(was *corev1.ContainerStatus) string {
			switch {
			case was.State.Waiting != nil:
				return ""
			case was.State.Running == nil:
				return "running"
			case c.ends == nil:
				return "exit0"
			}
			return c.ends(pod.Name)
		})
		if changed {
			data, err := json.Marshal(map[string]any{"status": map[string]any{"ephemeralContainerStatuses": pod.Status.EphemeralContainerStatuses}})
			c.Must(err)
			c.PatchPod(pod.Name, string(data), "status")
		}
	}
	synctest.Wait()
}

// goOn has the ephemeral containers of a pod go on that have not ended. next names their states, see stateNamed, or nothing if they stay.
// It tells whether any has another one.
func goOn(pod *corev1.Pod, next func(was *corev1.ContainerStatus) string) (changed bool) {
	statuses := &pod.Status.EphemeralContainerStatuses
	for _, c := range pod.Spec.EphemeralContainers {
		i := slices.IndexFunc(*statuses, func(s corev1.ContainerStatus) bool { return s.Name == c.Name })
		if i < 0 {
			i, *statuses = len(*statuses), append(*statuses, corev1.ContainerStatus{Name: c.Name})
		}
		was := &(*statuses)[i]
		if was.State.Terminated != nil {
			continue
		}
		if state := next(was); state != "" && !(state == "running" && was.State.Running != nil) {
			was.State, changed = *stateNamed(state), true
		}
	}
	return changed
}

// outcome shows a job and what its pods have, without times.
func (c *cluster) outcome(name string) string {
	c.T.Helper()
	job := c.get(name)
	if job == nil {
		return "gone"
	}
	s := &job.Status
	out := []string{fmt.Sprintf("%s match=%d running=%d succeeded=%d waiting=%d failed=%d", s.Phase, s.Matches, s.Running, s.Succeeded, s.Waiting, s.Failed)}
	out = append(out, conditions(s)...)
	for _, r := range s.PodResults {
		out = append(out, fmt.Sprintf("%s/%s %d %s", r.Pod, r.Container, *r.ExitCode, r.Message))
	}
	return strings.Join(out, "\n")
}

// containers shows the ephemeral containers of all pods.
func (c *cluster) containers() string {
	c.T.Helper()
	var out []string
	for _, pod := range c.Pods() {
		line := pod.Name + ":"
		for i := range pod.Spec.EphemeralContainers {
			line += " " + pod.Spec.EphemeralContainers[i].Name
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

// counted is JobMetrics.
type counted []string

func (c *counted) Injected(served, refused int) {
	*c = append(*c, fmt.Sprintf("%d served, %d refused", served, refused))
}

func (c *counted) Finished(phase v1alpha1.EphemeralJobPhase, succeeded, failed int32, took time.Duration) {
	*c = append(*c, fmt.Sprintf("%s: %d succeeded, %d failed in %s", phase, succeeded, failed, took))
}
