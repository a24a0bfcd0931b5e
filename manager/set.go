// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"

	"github.com/podwright/podwright"
)

// Options says what a Set is for. Every field has a useful zero value, unless it says otherwise.
type Options struct {
	// Name is that of the program: its ServiceAccount, roles and bindings have it. Required for Objects.
	Name string
	// Namespace is that of the program's ServiceAccount. Required for Objects.
	Namespace string
	// Kubernetes is asked whether kinds are served, and registers webhooks. Required to run.
	Kubernetes kubernetes.Interface
	// Target returns how the API server reaches the handlers. It is called whenever the registration is looked at, at least
	// once a minute: the certificate authority may have become another. An error says that it is not known yet. Default
	// nil: RunWebhooks registers nothing.
	Target func(context.Context) (Target, error)
	// FailurePolicies say, by path, what the API server does with requests while no webhook answers. Default: Fail.
	FailurePolicies map[string]admissionregistrationv1.FailurePolicyType
	// ExemptNamespaces are those in which no webhook is asked about pods, and about deletions of objects of Kubernetes, such as kube-system. Webhooks of
	// the library's own kinds are. Default nil: none.
	ExemptNamespaces []string
	// Start starts the informers that kinds share. It is called whenever a controller has been made, before it runs.
	// Informers that run already must stay as they are, as those of client-go's SharedInformerFactory do.
	Start func(context.Context)
	// LookAgain is the time between two looks for a resource that is not served. Default: 5 seconds.
	LookAgain time.Duration
	// Waits is told of a controller that waits because its resource is not served, and Runs of one that begins.
	Waits, Runs func(podwright.Kind)
}

// Set is several kinds, as one program. New makes one. Its methods return new values, which the caller may change.
type Set struct {
	options      Options
	kinds        []podwright.Kind
	handlers     map[string]http.Handler
	registration *registration // nil without a client
}

// New returns the kinds as one program. Nothing is asked of the API server, and nothing runs yet. It returns an error if two
// kinds have the name of one controller, or serve one path.
func New(o Options, kinds ...podwright.Kind) (*Set, error) {
	if o.LookAgain == 0 {
		o.LookAgain = 5 * time.Second
	}
	s := &Set{options: o, kinds: slices.Clone(kinds), handlers: map[string]http.Handler{}}
	var errs []error
	names := map[string]bool{}
	for _, k := range kinds {
		if k.New != nil && names[k.Name] {
			errs = append(errs, fmt.Errorf("manager: two kinds have a controller %q: describe each kind once", k.Name))
		}
		names[k.Name] = names[k.Name] || k.New != nil
		if k.Admission == nil {
			continue
		}
		for path, handler := range k.Admission.Handlers {
			if s.handlers[path] != nil {
				errs = append(errs, fmt.Errorf("manager: two kinds serve %s: describe each kind with a webhook once", path))
			}
			s.handlers[path] = handler
		}
	}
	if o.Kubernetes != nil {
		s.registration = newRegistration(o.Kubernetes)
	}
	return s, errors.Join(errs...)
}

// Handlers returns what answers admission requests, by path. A path that names v1alpha1 is served without the version too.
// OpenKruise 1.9 registers such paths for kinds with two versions, and its webhook configurations stand until a manager
// replaces them.
func (s *Set) Handlers() map[string]http.Handler {
	handlers := make(map[string]http.Handler, 2*len(s.handlers))
	for path, handler := range s.handlers {
		handlers[withoutVersion(path)] = handler
	}
	maps.Copy(handlers, s.handlers)
	return handlers
}

// CRDs returns the CustomResourceDefinitions of the controllers' resources, by area. Those of workloads have the defaults that readers
// without a webhook need.
func (s *Set) CRDs() (definitions []*unstructured.Unstructured) {
	wanted, known := map[string]bool{}, map[string]bool{}
	for _, k := range s.kinds {
		name := k.Resource.GroupResource().String()
		if k.New == nil || k.CRDs == nil {
			continue
		}
		wanted[name] = true
		if known[name] {
			continue
		}
		for _, definition := range k.CRDs() { // those of all kinds of the area, sorted
			if !known[definition.GetName()] {
				known[definition.GetName()] = true
				definitions = append(definitions, definition)
			}
		}
	}
	return slices.DeleteFunc(definitions, func(d *unstructured.Unstructured) bool { return !wanted[d.GetName()] })
}

// Policies returns the admission policies of the kinds, each with the binding that puts it into force. They take Kubernetes 1.30.
func (s *Set) Policies() (policies []admissionregistrationv1.ValidatingAdmissionPolicy, bindings []admissionregistrationv1.ValidatingAdmissionPolicyBinding) {
	for _, k := range s.kinds {
		policies, bindings = append(policies, k.Policies...), append(bindings, k.Bindings...)
	}
	return policies, bindings
}
