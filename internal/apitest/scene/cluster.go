package scene

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/internal/apitest"
	"github.com/podwright/podwright/internal/caches"
)

// The users of the server: the controller under test, and the test itself.
const (
	ControllerUser = "controller"
	TestUser       = "test"
)

// Web is the workload of every scene.
var Web = types.NamespacedName{Namespace: "default", Name: "web"}

// Cluster is an API server in memory with informers and one controller.
type Cluster struct {
	*apitest.Server
	T *testing.T
	// Kube is the test's client.
	Kube kubernetes.Interface
	// Kubelet runs all pods but those whose image contains "bad".
	Kubelet *apitest.Kubelet
	// Events are those that the controller has told, if it was given the recorder.
	Events Recorder

	// The informers that the controller shares. They run as long as the scene;
	// indexes are added while it is set up.
	PodInformer, ClaimInformer, RevisionInformer cache.SharedIndexInformer

	// Reconcile makes one pass. Set it when setting up.
	Reconcile func(context.Context, types.NamespacedName) (requeueAfter time.Duration, err error)
	// Unfinished shows what a pass would do now; empty stands for nothing. Set
	// it when setting up.
	Unfinished func() string

	workload  apitest.Resource
	guard     apitest.Guard
	informers []cache.SharedIndexInformer
}

// Play plays a story with workloads of a kind. It calls setUp before any
// informer runs, and then the story. No goroutine may be left at the end, and
// no object of a cache may have been changed.
func Play(t *testing.T, workload apitest.Resource, setUp func(*Cluster), story func(*testing.T)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		t.Helper()
		c := &Cluster{T: t, Server: apitest.New(nil, workload), workload: workload}
		c.Kube = c.Client(TestUser)
		c.Kubelet = &apitest.Kubelet{Client: c.Kube, Broken: func(image string) bool { return strings.Contains(image, "bad") }}
		c.coreInformers()
		setUp(c)
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		for _, informer := range c.informers {
			running.Go(func() { informer.RunWithContext(ctx) })
		}
		defer func() {
			cancel()
			running.Wait()
			if err := c.guard.Check(); err != nil {
				t.Error(err)
			}
		}()
		synctest.Wait()
		story(t)
	})
}

// Client returns a client of a user for the built-in kinds.
func (c *Cluster) Client(user string) kubernetes.Interface {
	c.T.Helper()
	client, err := kubernetes.NewForConfig(c.Config(user))
	c.Must(err)
	return client
}

func (c *Cluster) coreInformers() {
	core := informers.NewSharedInformerFactory(c.Client(ControllerUser), 0)
	c.PodInformer = c.Add(core.Core().V1().Pods().Informer())
	c.ClaimInformer = c.Add(core.Core().V1().PersistentVolumeClaims().Informer())
	c.RevisionInformer = c.Add(core.Apps().V1().ControllerRevisions().Informer())
}

// Add has an informer run as long as the scene, and its objects guarded. It is
// for setting up, and returns the informer.
func (c *Cluster) Add(informer cache.SharedIndexInformer) cache.SharedIndexInformer {
	c.T.Helper()
	c.Must(informer.SetTransform(c.guard.Transform(caches.Trim)))
	c.informers = append(c.informers, informer)
	return informer
}

// Must ends the test where there is an error.
func (c *Cluster) Must(err error) {
	c.T.Helper()
	if err != nil {
		c.T.Fatal(err)
	}
}

// Sleep lets virtual time pass.
func (c *Cluster) Sleep(duration string) {
	c.T.Helper()
	d, err := time.ParseDuration(duration)
	c.Must(err)
	time.Sleep(d)
	synctest.Wait()
}
