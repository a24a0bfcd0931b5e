// SPDX-License-Identifier: Apache-2.0

package terminator

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/fakecluster"
	"github.com/podwright/podwright/internal/fakecluster/fixture"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// TestRequests pins what it costs, per pod: one request to stop sidecars, one to set
// images, one for the phase, and none before, after, and for pods without sidecars.
func TestRequests(t *testing.T) {
	for _, test := range []struct {
		name, pod, code string
		want            []string
	}{
		{"a sidecar that exits with 0", "OnFailure main: a=r:", "0", []string{"10 create containerrecreaterequests"}},
		{"one that exits with 137", "OnFailure main: a=r:", "137", []string{"10 create containerrecreaterequests", "10 patch pods/status"}},
		{"and Never", "Never main: a=r:", "137", []string{"10 create containerrecreaterequests", "10 patch pods/status"}},
		{"by image", "Never main: a=i:", "137", []string{"10 patch pods"}},
		{"none", "Never main: a:", "137", []string{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			inCluster(t, func(t *testing.T, c *cluster) {
				reconciles, stop := c.start(nil)
				defer stop()
				synctest.Wait()
				names := []string{}
				for i := range 10 {
					names = append(names, fmt.Sprint("web-", i))
					c.create(names[i], test.pod, test.code)
				}
				c.work(2e9)
				if reconciles.Count() > 0 {
					t.Errorf("ST-4: %d reconciles while the main containers run", reconciles.Count())
				}
				c.ForgetRequests()
				for _, name := range names {
					c.exit(name, "main", 0)
				}
				c.work(10e9)
				if diff := cmp.Diff(test.want, c.Sent()); diff != "" {
					t.Errorf("(-want +got) %s", diff)
				}
				c.Sleep("10m")
				c.ForgetRequests()
				before := reconciles.Count()
				for i := range 10 {
					c.Heartbeat(i)
					c.Sleep("1m")
				}
				if sent := c.Sent(); len(sent) > 0 || reconciles.Count() != before {
					t.Errorf("settled, and %v in %d reconciles", sent, reconciles.Count()-before)
				}
			})
		})
	}
}

// The kubelet has come to a phase that the cache does not show: it is final, and is not
// overwritten. (ST-16)
func TestPhaseOfTheKubelet(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		_, stop := c.start(nil)
		defer stop()
		c.create("web", "Never main: a=r:", "137")
		c.FailAfter(func(r fakecluster.Request) error { // it fails in the moment in which the request is created
			if r.User == fixture.ControllerUser && r.String() == "create containerrecreaterequests" {
				pod := c.pod("web")
				end(&pod.Status.ContainerStatuses[1], 137)
				pod.Status.Phase = corev1.PodFailed
				_, err := c.Kube.CoreV1().Pods(pod.Namespace).UpdateStatus(t.Context(), pod, metav1.UpdateOptions{})
				c.Must(err)
			}
			return nil
		})
		c.exit("web", "main", 0)
		c.Sleep("1m")
		if got := c.show("web"); got != "Failed main:0 a:137" {
			t.Errorf("got %s", got)
		}
	})
}

// A reconcile comes too late, or is about a pod that concerns nobody: it does nothing. (ST-5)
func TestPodThatIsGone(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.create("gone", "OnFailure main: a=r:", "0")
		c.create("other", "OnFailure main: a:")
		controller, err := New(Options{Kubernetes: c.Client(fixture.ControllerUser), Lifecycle: lifecycleClient(c.Cluster, fixture.ControllerUser)})
		c.Must(err)
		defer c.Start(controller.Run)()
		c.Sleep("1s")
		c.RemovePod("gone")
		c.Sleep("1s")
		c.ForgetRequests()
		for _, name := range []string{"gone", "other", "never"} {
			key := types.NamespacedName{Namespace: fixture.Web.Namespace, Name: name}
			if after, err := controller.Reconciler.Reconcile(t.Context(), key); after != 0 || err != nil {
				t.Errorf("%s: again after %s, error %v", name, after, err)
			}
			if plan, err := controller.Reconciler.Plan(key); plan != nil || err != nil {
				t.Errorf("%s: plan %v, error %v", name, plan, err)
			}
			if s, err := controller.Reconciler.Snapshot(key); s != nil || err != nil {
				t.Errorf("%s: snapshot %v, error %v", name, s, err)
			}
		}
		if sent := c.Sent(); len(sent) > 0 {
			t.Errorf("requests %v", sent)
		}
	})
}

// The kubelet alone decides. (ST-19)
func TestLeavePhase(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		controller, err := New(Options{Kubernetes: c.Client(fixture.ControllerUser), Lifecycle: lifecycleClient(c.Cluster, fixture.ControllerUser), LeavePhase: true})
		c.Must(err)
		defer c.Start(controller.Run)()
		c.create("web", "Never main: a=r:", "137")
		c.exit("web", "main", 0)
		c.work(5e9)
		if got := c.show("web"); got != "Failed main:0 a:137" {
			t.Errorf("got %s", got)
		}
	})
}

// A controller that ends before the phase is written, or between that and the request, is followed by one that gives it: nobody
// stops the sidecars before. (ST-8, ST-15)
func TestRestart(t *testing.T) {
	for fails, created := range map[string]bool{"patch pods/status": true, "create containerrecreaterequests": false} {
		inCluster(t, func(t *testing.T, c *cluster) {
			_, stop := c.start(nil)
			c.create("web", "Never main: a=r:", "137")
			c.FailBefore(fixture.Fail(fails, fixture.ErrLost))
			c.exit("web", "main", 0)
			c.Sleep("1s")
			stop()
			list, err := c.requests.List(t.Context(), metav1.ListOptions{})
			if err != nil || len(list.Items) > 0 {
				t.Errorf("%s: there are requests %v, error %v", fails, list, err)
			}
			c.FailBefore(nil)
			c.ForgetRequests()
			_, stop = c.start(nil)
			defer stop()
			c.work(5e9)
			if got := c.show("web"); got != "Succeeded main:0 a:137" {
				t.Errorf("%s: got %s", fails, got)
			}
			if sent := strings.Join(c.Sent(), ", "); strings.Contains(sent, "create") != created {
				t.Errorf("%s: requests %s", fails, sent)
			}
		})
	}
}

// The kubelet acts at once on an annotation that has changed, and may write the phase that it knows over the one that was given
// until it does: then that is given again. (ST-13.1)
func TestPhaseIsGivenAgain(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		_, stop := c.start(nil)
		defer stop()
		c.create("web", "Never main: a=r:", "137")
		c.exit("web", "main", 0)
		c.Sleep("100ms")
		first := c.pod("web")
		if first.Annotations[v1alpha1.SidecarPhaseWrittenAnnotation] == "" {
			t.Errorf("annotations %v", first.Annotations)
		}
		c.Sleep("10s")
		c.write("web", func(pod *corev1.Pod) { pod.Status.Phase = corev1.PodRunning })
		c.Sleep("100ms")
		again := c.pod("web")
		if again.Status.Phase != corev1.PodSucceeded || again.Annotations[v1alpha1.SidecarPhaseWrittenAnnotation] == first.Annotations[v1alpha1.SidecarPhaseWrittenAnnotation] {
			t.Errorf("%s, annotations %v after %v", again.Status.Phase, again.Annotations, first.Annotations)
		}
	})
}

// Where a request for a pod that has ended is refused, the kubelet ends the sidecars, and nobody is told. (ST-15)
func TestRequestIsRefusedSinceThePodHasEnded(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		_, stop := c.start(nil)
		defer stop()
		c.create("web", "Never main: a=r:", "137")
		c.FailBefore(fixture.Fail("create containerrecreaterequests", apierrors.NewBadRequest("the pod has ended")))
		c.exit("web", "main", 0)
		c.work(5e9)
		if got := c.show("web"); got != "Succeeded main:0 a:137" || len(c.Events.All()) > 0 {
			t.Errorf("got %s, events %q", got, c.Events.All())
		}
	})
}

// In a namespace that is being deleted no request can be created, and nobody is told.
func TestNamespaceThatGoes(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		_, stop := c.start(nil)
		defer stop()
		forbidden := apierrors.NewForbidden(lifecyclev1alpha1.Resource("containerrecreaterequests"), "", nil)
		forbidden.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
		c.FailBefore(fixture.Fail("create containerrecreaterequests", forbidden))
		c.create("web", "OnFailure main: a=r:", "0")
		c.ForgetRequests()
		c.exit("web", "main", 0)
		c.Sleep("1h")
		if diff := cmp.Diff([]string{"1 create containerrecreaterequests"}, c.Sent()); diff != "" || len(c.Events.All()) > 0 {
			t.Errorf("(-want +got) %s, events %q", diff, c.Events.All())
		}
	})
}

// A node that the cache does not know yet is looked for again. (ST-6)
func TestNodeThatComes(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		reconciles, stop := c.start(nil)
		defer stop()
		c.Must(c.Kube.CoreV1().Nodes().Delete(t.Context(), "real", metav1.DeleteOptions{}))
		c.create("web", "OnFailure main: a=r:", "0")
		c.ForgetRequests()
		c.exit("web", "main", 0)
		c.Sleep("10m")
		if sent := c.Sent(); len(sent) > 0 || reconciles.Count() > 12 || reconciles.Count() < 10 {
			t.Errorf("ST-E11: requests %v, %d reconciles", sent, reconciles.Count())
		}
		_, err := c.Kube.CoreV1().Nodes().Create(t.Context(), nodes["real"].DeepCopy(), metav1.CreateOptions{})
		c.Must(err)
		c.Sleep("1m")
		c.work(5e9)
		if got := c.show("web"); got != "Succeeded main:0 a:0" {
			t.Errorf("got %s", got)
		}
	})
}
