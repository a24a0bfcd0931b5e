// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"errors"
	"fmt"
	"sort"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/kubernetes"
	"k8s.io/kubectl/pkg/polymorphichelpers"
	"k8s.io/kubectl/pkg/util/podutils"
)

// Install replaces the functions by which kubectl's commands set, expose and exec find what is in an object, for the
// whole process. Each does so for Objects, and falls back to the one that was there before.
func Install() {
	update, attachable := polymorphichelpers.UpdatePodSpecForObjectFn, polymorphichelpers.AttachablePodForObjectFn
	polymorphichelpers.UpdatePodSpecForObjectFn = func(obj runtime.Object, change func(*corev1.PodSpec) error) (bool, error) {
		if o, ok := obj.(*Object); ok {
			return true, o.UpdatePodSpec(change)
		}
		return update(obj, change)
	}
	polymorphichelpers.AttachablePodForObjectFn = func(getter genericclioptions.RESTClientGetter, obj runtime.Object, timeout time.Duration) (*corev1.Pod, error) {
		if o, ok := obj.(*Object); ok {
			return o.firstPod(getter, timeout)
		}
		return attachable(getter, obj, timeout)
	}
	installExpose()
}

// installExpose replaces those of expose, which takes CloneSets. (KC-12)
func installExpose() {
	exposed, selector := polymorphichelpers.CanBeExposedFn, polymorphichelpers.MapBasedSelectorForObjectFn
	ports, protocols := polymorphichelpers.PortsForObjectFn, polymorphichelpers.MultiProtocolsForObjectFn
	polymorphichelpers.CanBeExposedFn = func(kind schema.GroupKind) error {
		if k := KindOf(kind); k != nil && k.Name == "CloneSet" {
			return nil
		}
		return exposed(kind)
	}
	polymorphichelpers.MapBasedSelectorForObjectFn = func(obj runtime.Object) (string, error) {
		if o, ok := obj.(*Object); ok {
			return o.matchLabels()
		}
		return selector(obj)
	}
	polymorphichelpers.PortsForObjectFn = func(obj runtime.Object) ([]string, error) {
		o, ok := obj.(*Object)
		if !ok {
			return ports(obj)
		}
		byPort, err := o.protocols()
		var numbers []string
		for number := range byPort {
			numbers = append(numbers, number)
		}
		sort.Strings(numbers)
		return numbers, err
	}
	polymorphichelpers.MultiProtocolsForObjectFn = func(obj runtime.Object) (map[string][]string, error) {
		if o, ok := obj.(*Object); ok {
			return o.protocols()
		}
		return protocols(obj)
	}
}

// matchLabels returns the selector as a Service takes it.
func (o *Object) matchLabels() (string, error) {
	expressions, _, _ := unstructured.NestedSlice(o.Object, "spec", "selector", "matchExpressions")
	if len(expressions) > 0 {
		return "", fmt.Errorf("couldn't convert expressions - %v to map-based selector format", expressions)
	}
	labels, _, err := unstructured.NestedStringMap(o.Object, "spec", "selector", "matchLabels")
	if err != nil || len(labels) == 0 {
		return "", errors.Join(fmt.Errorf("invalid %s: no selectors, therefore cannot be exposed", o.Kind().Words), err)
	}
	return polymorphichelpers.MakeLabels(labels), nil
}

// protocols returns the protocols of the ports that the containers declare, by port.
func (o *Object) protocols() (map[string][]string, error) {
	template, err := o.PodTemplate()
	if err != nil {
		return nil, err
	}
	byPort := map[string][]string{}
	for _, container := range template.Spec.Containers {
		for _, port := range container.Ports {
			protocol := string(port.Protocol)
			if protocol == "" {
				protocol = string(corev1.ProtocolTCP)
			}
			number := strconv.Itoa(int(port.ContainerPort))
			byPort[number] = append(byPort[number], protocol)
		}
	}
	return byPort, nil
}

// firstPod returns the pod that kubectl would take of a workload: rather one that runs and is ready. It waits for one.
func (o *Object) firstPod(getter genericclioptions.RESTClientGetter, timeout time.Duration) (*corev1.Pod, error) {
	labels, err := o.matchLabels()
	if err != nil {
		return nil, err
	}
	config, err := getter.ToRESTConfig()
	if err != nil {
		return nil, err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	order := func(pods []*corev1.Pod) sort.Interface { return sort.Reverse(podutils.ActivePods(pods)) }
	pod, _, err := polymorphichelpers.GetFirstPod(client.CoreV1(), o.GetNamespace(), strings.TrimSpace(labels), timeout, order)
	return pod, err
}
