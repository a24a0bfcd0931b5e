// SPDX-License-Identifier: Apache-2.0

package ephemeraljob

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright"
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

// cluster is a fake cluster with EphemeralJobs.
type cluster struct {
	*fixture.Cluster
	options    Options // for a controller that shares the informers
	reconciler Reconciler
	// ends says how a container goes on, which runs: "exit0", "exit1" or "running". Nil: all exit with 0.
	ends func(pod, container string) string
}

// inCluster plays a story with EphemeralJobs.
func inCluster(t *testing.T, story func(*testing.T, *cluster)) {
	t.Helper()
	c := &cluster{}
	fixture.Play(t, jobResource, func(f *fixture.Cluster) {
		c.Cluster = f
		c.setUp()
	}, func(t *testing.T) { story(t, c) })
}

func (c *cluster) setUp() {
	c.T.Helper()
	jobs := c.jobs(fixture.ControllerUser)
	c.options = Options{
		Kubernetes: c.Client(fixture.ControllerUser), Lifecycle: jobs, ControllerOptions: podwright.ControllerOptions{Recorders: c.Events.Of},
		EphemeralJobs: c.Add(client.NewEphemeralJobInformer(jobs, "", 0, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})),
		Pods:          c.PodInformer(),
	}
	c.options.Reader = controller.Caches(c.options.reads())
	c.restart()
}

func (c *cluster) jobs(user string) client.Interface {
	c.T.Helper()
	return fixture.Connect(c.T, c.Server, user, client.NewForConfig)
}

// restart makes a Reconciler that remembers nothing.
func (c *cluster) restart() {
	c.T.Helper()
	r, err := NewReconciler(c.options)
	c.Must(err)
	c.reconciler, c.Reconcile = r, r.Reconcile
	c.Unfinished = func() string {
		left, err := unfinished(r, web)
		c.Must(err)
		return left
	}
}

// start runs a controller with informers of its own. The function it returns stops
// the controller and waits for it.
func (c *cluster) start(edit ...func(*Options)) (reconciles *fixture.Reconciles, stop func()) {
	c.T.Helper()
	reconciles = &fixture.Reconciles{}
	o := c.options
	o.Reader, o.EphemeralJobs, o.Pods, o.Metrics = nil, nil, nil, reconciles
	return reconciles, fixture.StartNew(c.Cluster, New, o, edit...)
}

// unfinished shows what the next reconcile of a reconciler would do.
func unfinished(r Reconciler, key types.NamespacedName) (string, error) {
	plan, err := r.Plan(context.Background(), key)
	if plan == nil || err != nil || len(plan.Inject) == 0 && plan.Status == nil && !plan.DeleteJob && !plan.AddFinalizer && !plan.RemoveFinalizer {
		return "", err
	}
	return show(plan), nil
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
		c.CreatePod(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: web.Namespace, Name: name, Labels: map[string]string{"app": app}},
			Spec: corev1.PodSpec{NodeName: "node-1", Containers: []corev1.Container{{Name: "main", Image: "web:1"}}}})
		c.Sleep("1s")
	}
}

func (c *cluster) get(name string) *v1alpha1.EphemeralJob {
	c.T.Helper()
	job, err := c.jobs(fixture.TestUser).EphemeralJobs(web.Namespace).Get(c.T.Context(), name, metav1.GetOptions{})
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
		changed := false
		for i := range pod.Spec.EphemeralContainers {
			name := pod.Spec.EphemeralContainers[i].Name
			status, next := ephemeralStatus(&pod, name), "running"
			switch {
			case status == nil:
				pod.Status.EphemeralContainerStatuses = append(pod.Status.EphemeralContainerStatuses, corev1.ContainerStatus{Name: name})
				status = ephemeralStatus(&pod, name)
			case status.State.Running != nil && c.ends == nil:
				next = "exit0"
			case status.State.Running != nil:
				next = c.ends(pod.Name, name)
			default:
				continue
			}
			if state := *stateNamed(c.T, next); containerState(status) != containerState(&corev1.ContainerStatus{State: state}) {
				status.State, changed = state, true
			}
		}
		if changed {
			data, err := json.Marshal(map[string]any{"status": map[string]any{"ephemeralContainerStatuses": pod.Status.EphemeralContainerStatuses}})
			c.Must(err)
			c.PatchPod(pod.Name, string(data), "status")
		}
	}
	synctest.Wait()
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

func TestJobMetrics(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.addPods("web-a", "web-b")
		c.FailBefore(func(r fakecluster.Request) error {
			if r.String() == "patch pods/ephemeralcontainers" && r.Name == "web-a" && !r.DryRun {
				return errPolicy
			}
			return nil
		})
		var got counted
		c.Create(testJob("web"), `{"spec":{"parallelism":2,"activeDeadlineSeconds":4}}`)
		_, stop := c.start(func(o *Options) { o.JobMetrics = &got })
		for range 6 {
			c.Sleep("1s")
			c.nodeStep()
		}
		stop()
		want := counted{"1 served, 1 refused", "0 served, 1 refused", "0 served, 1 refused", "Failed: 1 succeeded, 0 failed in 4s"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("measured (-want +got):\n%s", diff)
		}
	})
}

// EJ-14: a refusal that is new is told at once, however long the next try may take.
func TestNewRefusalIsTold(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.addPods("web-a")
		c.FailBefore(fixture.Fail("patch pods/ephemeralcontainers", errPolicy))
		_, stop := c.start()
		defer stop()
		c.Create(testJob("web"), "")
		c.Sleep("3m")
		c.addPods("web-b")
		for c.Events.Count(eventCreateFailed) < 2 {
			c.Sleep("1s")
		}
		c.Sleep("2s")
		if got := c.outcome("web"); !strings.Contains(got, "; web-b: ") {
			t.Errorf("outcome\n%s", got)
		}
	})
}
