package cloneset

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/internal/apitest"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// cluster is an API server in memory with informers, in virtual time. The test
// is its user and its kubelet. Everything has come to rest when a method returns.
type cluster struct {
	*apitest.Server
	t          *testing.T
	kube       kubernetes.Interface
	sets       client.CloneSetInterface
	kubelet    *apitest.Kubelet
	events     recorder
	options    Options // for a controller that shares the informers
	reconciler *Reconciler
}

const controllerUser, testUser = "controller", "test"

var web = types.NamespacedName{Namespace: "default", Name: "web"}

// inCluster runs a test in a cluster. No goroutine may be left at its end, and
// no object of a cache may have been changed.
func inCluster(t *testing.T, test func(*testing.T, *cluster)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		t.Helper()
		c := &cluster{t: t, Server: apitest.New(nil,
			apitest.CustomResource(v1alpha1.SchemeGroupVersion.WithKind("CloneSet"), "clonesets"))}
		var workloads client.Interface
		c.kube, workloads = c.clients(testUser)
		c.sets = workloads.CloneSets("default")
		c.kubelet = &apitest.Kubelet{Client: c.kube, Broken: func(image string) bool { return strings.Contains(image, "bad") }}
		guard := &apitest.Guard{}
		c.makeInformers(guard)
		var err error
		if c.reconciler, err = NewReconciler(c.options); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		for _, informer := range []cache.SharedIndexInformer{c.options.CloneSets, c.options.Pods, c.options.Claims, c.options.Revisions} {
			running.Go(func() { informer.RunWithContext(ctx) })
		}
		defer func() {
			cancel()
			running.Wait()
			if err := guard.Check(); err != nil {
				t.Error(err)
			}
		}()
		synctest.Wait()
		test(t, c)
	})
}

func (c *cluster) clients(user string) (kubernetes.Interface, client.Interface) {
	c.t.Helper()
	kube, err := kubernetes.NewForConfig(c.Config(user))
	if err != nil {
		c.t.Fatal(err)
	}
	workloads, err := client.NewForConfig(c.Config(user))
	if err != nil {
		c.t.Fatal(err)
	}
	return kube, workloads
}

func (c *cluster) makeInformers(guard *apitest.Guard) {
	kube, workloads := c.clients(controllerUser)
	factory := informers.NewSharedInformerFactoryWithOptions(kube, 0, informers.WithTransform(guard.Transform(caches.Trim)))
	o := Options{
		Kubernetes: kube, Workloads: workloads, NoNodes: true, Recorder: &c.events,
		CloneSets: client.NewCloneSetInformer(workloads, "", 0, cache.Indexers{}),
		Pods:      factory.Core().V1().Pods().Informer(),
		Claims:    factory.Core().V1().PersistentVolumeClaims().Informer(),
		Revisions: factory.Apps().V1().ControllerRevisions().Informer(),
	}
	if err := o.CloneSets.SetTransform(guard.Transform(nil)); err != nil {
		c.t.Fatal(err)
	}
	for _, informer := range []cache.SharedIndexInformer{o.Pods, o.Claims, o.Revisions} {
		if err := caches.AddOwnerIndex(informer); err != nil {
			c.t.Fatal(err)
		}
	}
	o.Reader = newInformerReader(&o)
	c.options = o
}

const cloneSetsPath = "/apis/apps.kruise.io/v1alpha1/namespaces/default/clonesets"

// create makes the CloneSet web of one container, changed by a merge patch.
func (c *cluster) create(replicas int32, patch string) {
	c.t.Helper()
	set := &v1alpha1.CloneSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: web.Namespace, Name: web.Name},
		Spec: v1alpha1.CloneSetSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "nginx:1"}}},
			},
		},
	}
	data, err := json.Marshal(set)
	if err != nil {
		c.t.Fatal(err)
	}
	if patch != "" {
		if data, err = jsonpatch.MergePatch(data, []byte(patch)); err != nil {
			c.t.Fatal(err)
		}
	}
	if err := c.kube.CoreV1().RESTClient().Post().AbsPath(cloneSetsPath).SetHeader("Content-Type", "application/json").
		Body(data).Do(c.t.Context()).Error(); err != nil {
		c.t.Fatal(err)
	}
	synctest.Wait()
}

// edit changes the CloneSet as a user does, by a merge patch.
func (c *cluster) edit(patch string) {
	c.t.Helper()
	if _, err := c.sets.Patch(c.t.Context(), web.Name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		c.t.Fatal(err)
	}
	synctest.Wait()
}

func (c *cluster) setImage(image string) {
	c.t.Helper()
	c.edit(`{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"` + image + `"}]}}}}`)
}

// pass makes one pass, and returns the requests it cost as "n verb resource".
func (c *cluster) pass() (requests []string, after time.Duration, err error) {
	c.t.Helper()
	synctest.Wait()
	c.ForgetRequests()
	after, err = c.reconciler.Reconcile(c.t.Context(), web)
	requests = c.requests()
	synctest.Wait()
	return requests, after, err
}

// mustPass is pass where an error ends the test.
func (c *cluster) mustPass() []string {
	c.t.Helper()
	requests, _, err := c.pass()
	if err != nil {
		c.t.Fatal(err)
	}
	return requests
}

// requests lists what the controller sent, but not what its informers did.
func (c *cluster) requests() []string {
	count := c.Count(controllerUser)
	maps.DeleteFunc(count, func(request string, _ int) bool {
		return strings.HasPrefix(request, "list ") || strings.HasPrefix(request, "watch ")
	})
	out := []string{}
	for _, request := range slices.Sorted(maps.Keys(count)) {
		out = append(out, fmt.Sprint(count[request], " ", request))
	}
	return out
}

// settle has kubelet and controller act in turns until both have nothing to
// do, and returns all requests it took.
func (c *cluster) settle() []string {
	c.t.Helper()
	total := map[string]int{}
	for quiet, steps := 0, 0; quiet < 2; steps++ {
		if steps > 200 {
			c.t.Fatalf("does not come to rest, the last requests are %v", c.requests())
		}
		c.kubeletStep()
		c.ForgetRequests()
		after, err := c.reconciler.Reconcile(c.t.Context(), web)
		if err != nil {
			c.t.Fatal(err)
		}
		quiet++
		for _, request := range c.requests() {
			var n int
			_, _ = fmt.Sscan(request, &n)
			total[request[strings.Index(request, " ")+1:]] += n
			quiet = 0
		}
		time.Sleep(after)
	}
	out := []string{}
	for _, request := range slices.Sorted(maps.Keys(total)) {
		out = append(out, fmt.Sprint(total[request], " ", request))
	}
	return out
}

// sleep lets virtual time pass.
func (c *cluster) sleep(duration string) {
	c.t.Helper()
	d, err := time.ParseDuration(duration)
	if err != nil {
		c.t.Fatal(err)
	}
	time.Sleep(d)
	synctest.Wait()
}

func (c *cluster) kubeletStep() {
	c.t.Helper()
	if err := c.kubelet.SyncAll(c.t.Context(), "default"); err != nil {
		c.t.Fatal(err)
	}
	synctest.Wait()
}

func (c *cluster) get() *v1alpha1.CloneSet {
	c.t.Helper()
	set, err := c.sets.Get(c.t.Context(), web.Name, metav1.GetOptions{})
	if err != nil {
		c.t.Fatal(err)
	}
	return set
}

// pods returns the pods by name, those that are being deleted too.
func (c *cluster) pods() []corev1.Pod {
	c.t.Helper()
	pods, err := c.kube.CoreV1().Pods("default").List(c.t.Context(), metav1.ListOptions{})
	if err != nil {
		c.t.Fatal(err)
	}
	return pods.Items
}

func (c *cluster) podNames() []string {
	var names []string
	for _, pod := range c.pods() {
		names = append(names, pod.Name)
	}
	return names
}

// conditions shows the conditions of the CloneSet as "type: message".
func (c *cluster) conditions() []string {
	out := []string{}
	for _, condition := range c.get().Status.Conditions {
		out = append(out, fmt.Sprintf("%s: %s", condition.Type, condition.Message))
	}
	return out
}

// deletePod deletes a pod as a user does.
func (c *cluster) deletePod(name string) {
	c.t.Helper()
	if err := c.kube.CoreV1().Pods("default").Delete(c.t.Context(), name, metav1.DeleteOptions{}); err != nil {
		c.t.Fatal(err)
	}
	synctest.Wait()
}

// patchPod changes a pod as a user does.
func (c *cluster) patchPod(name, patch string, subresources ...string) {
	c.t.Helper()
	if _, err := c.kube.CoreV1().Pods("default").Patch(c.t.Context(), name, types.StrategicMergePatchType, []byte(patch),
		metav1.PatchOptions{}, subresources...); err != nil {
		c.t.Fatal(err)
	}
	synctest.Wait()
}

// recorder keeps events as "type reason: message".
type recorder struct {
	lock   sync.Mutex
	events []string
}

func (r *recorder) Event(_ runtime.Object, kind, reason, message string) {
	r.lock.Lock()
	defer r.lock.Unlock()
	r.events = append(r.events, kind+" "+reason+": "+message)
}

func (r *recorder) Eventf(object runtime.Object, kind, reason, format string, args ...any) {
	r.Event(object, kind, reason, fmt.Sprintf(format, args...))
}

func (r *recorder) AnnotatedEventf(object runtime.Object, _ map[string]string, kind, reason, format string, args ...any) {
	r.Eventf(object, kind, reason, format, args...)
}

// count counts the events of a reason.
func (r *recorder) count(reason string) (n int) {
	r.lock.Lock()
	defer r.lock.Unlock()
	for _, event := range r.events {
		if strings.Contains(event, " "+reason+": ") {
			n++
		}
	}
	return n
}
