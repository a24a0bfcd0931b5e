// SPDX-License-Identifier: Apache-2.0

package fakecluster

import (
	"reflect"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// preparePod sets what a new pod gets from the server.
func preparePod(pod *unstructured.Unstructured) {
	pod.Object["status"] = map[string]any{"phase": string(corev1.PodPending), "qosClass": string(corev1.PodQOSBestEffort)}
	spec, _ := pod.Object["spec"].(map[string]any)
	if spec == nil {
		return
	}
	if _, set := spec["terminationGracePeriodSeconds"]; !set {
		spec["terminationGracePeriodSeconds"] = int64(corev1.DefaultTerminationGracePeriodSeconds)
	}
	if _, set := spec["restartPolicy"]; !set {
		spec["restartPolicy"] = string(corev1.RestartPolicyAlways)
	}
}

// podOf returns a pod as a value of its type.
func podOf(object *unstructured.Unstructured) (*corev1.Pod, error) {
	pod := &corev1.Pod{}
	return pod, runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, pod)
}

// pod returns a stored pod, which is not to be changed. The lock is held.
func (s *Server) pod(stored *unstructured.Unstructured) (*corev1.Pod, error) {
	pod, newest := s.pods[stored]
	if pod != nil {
		return pod, nil
	}
	pod, err := podOf(stored)
	if err == nil && newest {
		s.pods[stored] = pod
	}
	return pod, err
}

// podsOf is podOf for a pod before and after a change.
func podsOf(before, after *unstructured.Unstructured) (old, changed *corev1.Pod, err error) {
	if old, err = podOf(before); err == nil {
		changed, err = podOf(after)
	}
	return old, changed, err
}

// validatePod refuses changes of a pod's spec other than those of images,
// tolerations and the active deadline.
func validatePod(before, after *unstructured.Unstructured) field.ErrorList {
	if reflect.DeepEqual(before.Object["spec"], after.Object["spec"]) {
		return nil
	}
	old, changed, err := podsOf(before, after)
	if err != nil {
		return field.ErrorList{field.InternalError(nil, err)}
	}
	takeImages(old.Spec.Containers, changed.Spec.Containers)
	takeImages(old.Spec.InitContainers, changed.Spec.InitContainers)
	old.Spec.Tolerations = changed.Spec.Tolerations
	old.Spec.ActiveDeadlineSeconds = changed.Spec.ActiveDeadlineSeconds
	return immutable(old.Spec, changed.Spec, field.NewPath("spec"))
}

func takeImages(to, from []corev1.Container) {
	for i := range min(len(to), len(from)) {
		if from[i].Image != "" {
			to[i].Image = from[i].Image
		}
	}
}

func immutable(before, after any, path *field.Path) field.ErrorList {
	if equality.Semantic.DeepEqual(before, after) {
		return nil
	}
	return field.ErrorList{field.Forbidden(path, "may not be changed")}
}

// bind puts a pod on a node, as the scheduler does.
func (s *Server) bind(r *storage, req *Request) (any, error) {
	var binding corev1.Binding
	if err := decode(req.Body, &binding); err != nil {
		return nil, badRequest(err)
	}
	current, err := r.get(req)
	if err != nil {
		return nil, err
	}
	if node, _, _ := unstructured.NestedString(current.Object, "spec", "nodeName"); node != "" {
		return nil, conflict(r, req, "the pod is on node %s already", node)
	}
	if current.GetDeletionTimestamp() != nil {
		return nil, conflict(r, req, "the pod is being deleted")
	}
	after := current.DeepCopy()
	if err := unstructured.SetNestedField(after.Object, binding.Target.Name, "spec", "nodeName"); err != nil {
		return nil, err
	}
	s.commit(r, current, after)
	return success(), nil
}

// readPod returns a pod without a request.
func (s *Server) readPod(namespace, name string) (*corev1.Pod, error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	r := s.podRequest(namespace, name)
	stored, err := r.storage.get(r)
	if err != nil {
		return nil, err
	}
	pod, err := s.pod(stored)
	if err != nil {
		return nil, err
	}
	return pod.DeepCopy(), nil
}

// Pods returns the pods of a namespace by name, without a request: for tests that look
// often.
func (s *Server) Pods(namespace string) (pods []corev1.Pod, err error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	for _, stored := range s.resources["v1/pods"].sorted() {
		if stored.GetNamespace() != namespace {
			continue
		}
		pod, err := s.pod(stored)
		if err != nil {
			return nil, err
		}
		pods = append(pods, *pod.DeepCopy())
	}
	return pods, nil
}

// PodAfter returns what an update or a patch of a pod would make of it, without a request: what
// admission is asked about.
func (s *Server) PodAfter(req Request) (*corev1.Pod, error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	req.DryRun = true
	made, err := s.carryOut(&req)
	if err != nil {
		return nil, err
	}
	return podOf(made.(*unstructured.Unstructured))
}

// writePodStatus does what a PUT of the status of a pod does, without a request.
func (s *Server) writePodStatus(pod *corev1.Pod) error {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(pod)
	if err != nil {
		return err
	}
	wanted := &unstructured.Unstructured{Object: fields}
	wanted.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Pod"))
	s.lock.Lock()
	defer s.lock.Unlock()
	r := s.podRequest(pod.Namespace, pod.Name)
	current, err := r.storage.get(r)
	if err != nil {
		return err
	}
	_, err = s.update(r.storage, r, current, wanted)
	return err
}

func (s *Server) podRequest(namespace, name string) *Request {
	return &Request{Resource: "pods", Subresource: "status", Namespace: namespace, Name: name, storage: s.resources["v1/pods"]}
}
