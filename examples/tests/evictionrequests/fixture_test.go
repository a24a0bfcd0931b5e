// SPDX-License-Identifier: Apache-2.0

package evictionrequests

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	lifecyclev1alpha1 "k8s.io/api/lifecycle/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/retry"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/availability/evictionresponder"
	"github.com/podwright/podwright/examples/kit/crds"
	"github.com/podwright/podwright/examples/kit/permissions"
	"github.com/podwright/podwright/examples/tests/cluster"
	"github.com/podwright/podwright/examples/tests/testbed"
	"github.com/podwright/podwright/workloads"
	workloadsclient "github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/cloneset"
	workloadsv1alpha1 "github.com/podwright/podwright/workloads/v1alpha1"
)

// The clients of users, on the control plane of all tests.
var (
	core kubernetes.Interface
	sets workloadsclient.Interface
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) (code int) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*testbed.Patience)
	defer cancel()
	control, err := cluster.Start(ctx, cluster.Options{Log: os.Stderr, APIServerArgs: []string{
		"--feature-gates=EvictionRequestAPI=true", "--runtime-config=lifecycle.k8s.io/v1alpha1=true"}})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	running, stop := context.WithCancel(ctx)
	ended, err := start(running, control)
	if err == nil {
		code = m.Run()
	}
	stop()
	for _, end := range ended {
		if failed := <-end; err == nil {
			err = failed
		}
	}
	if failed := control.Stop(); err == nil {
		err = failed
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// start runs CloneSets and the responder.
func start(ctx context.Context, control *cluster.Cluster) (ended []chan error, err error) {
	if core, err = kubernetes.NewForConfig(control.Config()); err != nil {
		return nil, err
	}
	if sets, err = workloadsclient.NewForConfig(control.Config()); err != nil {
		return nil, err
	}
	definitions, err := dynamic.NewForConfig(control.Config())
	if err != nil {
		return nil, err
	}
	if err := crds.Install(ctx, definitions, workloads.CRDs()); err != nil {
		return nil, err
	}
	if served, err := evictionresponder.Served(core.Discovery()); err != nil || !served {
		return nil, fmt.Errorf("Evictions are served: %v, error %w", served, err)
	}
	cloneSets, err := cloneset.New(cloneset.Options{Kubernetes: core, Workloads: sets})
	if err != nil {
		return nil, err
	}
	responder, err := newResponder(ctx, control)
	if err != nil {
		return nil, err
	}
	for _, c := range []interface{ Run(context.Context) error }{cloneSets, responder} {
		end := make(chan error, 1)
		go func() { end <- c.Run(ctx) }()
		ended = append(ended, end)
	}
	return ended, nil
}

// newResponder makes a responder that has the rights that it states, and no others.
func newResponder(ctx context.Context, control *cluster.Cluster) (evictionresponder.Controller, error) {
	o := evictionresponder.Options{Workloads: sets, ControllerOptions: podwright.ControllerOptions{Recorders: func(string) record.EventRecorder { return record.NewFakeRecorder(100) }}}
	manifest, err := permissions.Manifest("evictionresponder", "podwright", []permissions.Part{{Rules: evictionresponder.Rules(o)}})
	if err != nil {
		return nil, err
	}
	account, err := control.Account(ctx, manifest)
	if err != nil {
		return nil, err
	}
	config, err := clientcmd.BuildConfigFromFlags("", account.Kubeconfig)
	if err != nil {
		return nil, err
	}
	if o.Kubernetes, err = kubernetes.NewForConfig(config); err != nil {
		return nil, err
	}
	if o.Workloads, err = workloadsclient.NewForConfig(config); err != nil {
		return nil, err
	}
	if o.EvictionClient, err = evictionresponder.NewClient(config, nil); err != nil {
		return nil, err
	}
	return evictionresponder.New(o)
}

// scene is a namespace with the CloneSet web of one pod that is registered with the responder.
type scene struct {
	*testing.T
	context.Context
	namespace string
	pod       *corev1.Pod // the first one
}

func newScene(t *testing.T, maxSurge int) *scene {
	ctx, cancel := context.WithTimeout(t.Context(), testbed.Patience)
	t.Cleanup(cancel)
	s := &scene{T: t, Context: ctx}
	created, err := core.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: strings.ToLower(t.Name()) + "-"}}, metav1.CreateOptions{})
	s.must(err)
	s.namespace = created.Name
	labels := map[string]string{"app": "web"}
	_, err = sets.CloneSets(s.namespace).Create(ctx, &workloadsv1alpha1.CloneSet{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: workloadsv1alpha1.CloneSetSpec{
		Replicas: new(int32(1)), Selector: &metav1.LabelSelector{MatchLabels: labels},
		UpdateStrategy: workloadsv1alpha1.CloneSetUpdateStrategy{MaxSurge: new(intstr.FromInt(maxSurge)), MaxUnavailable: new(intstr.FromInt(1))},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{
			Containers:         []corev1.Container{{Name: "main", Image: "web:1"}},
			EvictionResponders: registered,
		}},
	}}, metav1.CreateOptions{})
	s.must(err)
	s.eventually("one pod that is ready", func() error {
		ready := s.ready()
		if len(ready) != 1 {
			return fmt.Errorf("%d pods are ready", len(ready))
		}
		s.pod = ready[0]
		return nil
	})
	return s
}

// registered is the line of the manifest that users write.
var registered = []corev1.EvictionResponder{{Name: evictionresponder.ResponderName, Priority: new(evictionresponder.ResponderPriority)}}

func (s *scene) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func (s *scene) eventually(what string, attempt func() error) {
	s.Helper()
	s.must(testbed.Repeat(s.Context, what, attempt))
}

// ready returns the pods that are ready and not being deleted.
func (s *scene) ready() (ready []*corev1.Pod) {
	s.Helper()
	pods, err := core.CoreV1().Pods(s.namespace).List(s.Context, metav1.ListOptions{})
	s.must(err)
	for i := range pods.Items {
		if serves(&pods.Items[i]) {
			ready = append(ready, &pods.Items[i])
		}
	}
	return ready
}

func serves(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp == nil && slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// request asks for the eviction of the first pod, and does what becomes of that: an Eviction, of which the responder
// has its turn.
func (s *scene) request() {
	s.Helper()
	target := lifecyclev1alpha1.EvictionRequestPodReference{Name: s.pod.Name, UID: s.pod.UID}
	_, err := core.LifecycleV1alpha1().EvictionRequests(s.namespace).Create(s.Context, &lifecyclev1alpha1.EvictionRequest{
		ObjectMeta: metav1.ObjectMeta{Name: "drain"}, Spec: lifecyclev1alpha1.EvictionRequestSpec{
			Target: lifecyclev1alpha1.EvictionRequestTarget{Pod: &target}, Requester: "example.com/drain", Intent: lifecyclev1alpha1.EvictionRequestIntentEviction,
		}}, metav1.CreateOptions{})
	s.must(err)
	eviction, err := core.LifecycleV1alpha1().Evictions(s.namespace).Create(s.Context, &lifecyclev1alpha1.Eviction{
		ObjectMeta: metav1.ObjectMeta{Name: "drain"}, Spec: lifecyclev1alpha1.EvictionSpec{Target: lifecyclev1alpha1.EvictionTarget{
			Pod: &lifecyclev1alpha1.EvictionPodReference{Name: target.Name, UID: target.UID}}},
	}, metav1.CreateOptions{})
	s.must(err)
	eviction.Status.Requesters = []lifecyclev1alpha1.Requester{{Name: "example.com/drain", Intent: lifecyclev1alpha1.RequesterIntentEviction}}
	add := func(name string, priority int32, state lifecyclev1alpha1.ResponderStateType, start *metav1.Time) {
		eviction.Status.TargetResponders = append(eviction.Status.TargetResponders, lifecyclev1alpha1.TargetResponder{Name: name, Priority: &priority, State: state})
		eviction.Status.Responders = append(eviction.Status.Responders, lifecyclev1alpha1.ResponderStatus{Name: name, StartTime: start})
	}
	add(lifecyclev1alpha1.EvictionResponderImperativeEviction, 100, lifecyclev1alpha1.ResponderStateInactive, nil)
	for _, responder := range s.pod.Spec.EvictionResponders {
		add(responder.Name, *responder.Priority, lifecyclev1alpha1.ResponderStateActive, new(metav1.Now()))
	}
	_, err = core.LifecycleV1alpha1().Evictions(s.namespace).UpdateStatus(s.Context, eviction, metav1.UpdateOptions{})
	s.must(err)
}

// eviction is the Eviction, and the report of the responder.
func (s *scene) eviction() (*lifecyclev1alpha1.Eviction, *lifecyclev1alpha1.ResponderStatus) {
	s.Helper()
	eviction, err := core.LifecycleV1alpha1().Evictions(s.namespace).Get(s.Context, "drain", metav1.GetOptions{})
	s.must(err)
	return eviction, &eviction.Status.Responders[1]
}

// end changes the state of the responder to the last one, and tells of the Eviction what follows from it.
func (s *scene) end(state lifecyclev1alpha1.ResponderStateType, condition lifecyclev1alpha1.EvictionConditionType, reason lifecyclev1alpha1.EvictionConditionReason) {
	s.Helper()
	s.must(retry.RetryOnConflict(testbed.Conflicts, func() error {
		eviction, _ := s.eviction()
		eviction.Status.TargetResponders[1].State = state
		eviction.Status.Conditions = append(eviction.Status.Conditions, metav1.Condition{
			Type: string(condition), Status: metav1.ConditionTrue, Reason: string(reason), LastTransitionTime: metav1.Now()})
		_, err := core.LifecycleV1alpha1().Evictions(s.namespace).UpdateStatus(s.Context, eviction, metav1.UpdateOptions{})
		return err
	}))
}
