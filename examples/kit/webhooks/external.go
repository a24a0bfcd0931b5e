// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/podwright/podwright/examples/kit/crds"
	"github.com/podwright/podwright/examples/kit/permissions"
	"github.com/podwright/podwright/examples/kit/webhooks/certificates"
	podwrightmanager "github.com/podwright/podwright/manager"
)

// retry is the time between two looks while another program has not done its part.
const retry = 5 * time.Second

// howToInject says what to do about caBundles, with any program that writes them.
const howToInject = "have the program that provides the certificates write its authority there: for cert-manager, the annotation " +
	"cert-manager.io/inject-ca-from: NAMESPACE/CERTIFICATE, which --webhook-annotations gives what is registered; or write ca.crt of the Secret there yourself"

// externalPermissions are those of a server whose certificates another program provides: it reads what that program writes.
func (o *Options) externalPermissions(namespace string) []permissions.Part {
	read := []rbacv1.PolicyRule{
		permissions.Rule("get", admissionv1.GroupName, "mutatingwebhookconfigurations", podwrightmanager.MutatingName),
		permissions.Rule("get", admissionv1.GroupName, "validatingwebhookconfigurations", podwrightmanager.ValidatingName),
	}
	if !o.Register {
		read = append(read, permissions.Rule("get", crds.Resource.Group, crds.Resource.Resource, append(namesOnDemand(), ConvertedName)...))
	}
	return []permissions.Part{{Rules: read}, {Namespace: namespace, Rules: []rbacv1.PolicyRule{permissions.Rule("get", "", "secrets", o.Secret)}}}
}

// said is what was not in order at the last look that told it.
type said struct {
	what string
	at   time.Time
}

// tell logs what is not in order, once a minute unless it is something else.
func (s *said) tell(ctx context.Context, err error, message string) {
	if err.Error() == s.what && time.Since(s.at) < resync {
		return
	}
	s.what, s.at = err.Error(), time.Now()
	klog.FromContext(ctx).Error(err, message)
}

// lookAtExternal looks at everything once, and returns when to look again. The start waits until the Secret is good and both webhook
// configurations accept its certificate. A definition alone does not keep it waiting. (PF-5.4)
func (s *Server) lookAtExternal(ctx context.Context) time.Duration {
	notConverted, err := s.external(ctx)
	s.last.Store(&err)
	switch {
	case apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) || apierrors.IsConflict(notConverted):
		return answer
	case err != nil:
		s.said.tell(ctx, errors.Join(err, notConverted), "The webhook certificates of another program are not in order")
		return retry
	}
	s.succeeded()
	if notConverted != nil {
		s.said.tell(ctx, notConverted, "The conversion webhook is not in order: "+withoutConversion)
		return retry
	}
	s.said = said{}
	return resync
}

// external registers, without a caBundle, and follows what another program provides. The server goes on with the certificate
// that it has while more of what leads to it accepts that one. So it does while the new one is not good.
func (s *Server) external(ctx context.Context) (notConverted, err error) {
	now := time.Now()
	bundle, err := s.provided(ctx, now)
	if err != nil {
		return nil, err
	}
	if s.used == nil {
		if err := s.change(ctx, bundle); err != nil {
			return nil, err
		}
	}
	target := podwrightmanager.Target{URL: s.url, Namespace: s.Namespace, Service: s.Service, KeepCABundles: true, Annotations: s.Annotations}
	if s.Register {
		if _, notConverted, err = s.register(ctx, target); err != nil {
			return nil, err
		}
		s.target.Store(&target)
	} else {
		_, notConverted = s.registerConversion(ctx, target)
	}
	led, err := s.leading(ctx)
	if err != nil {
		return notConverted, err
	}
	if refused(led, bundle, now) <= refused(led, s.used, now) {
		if err := s.change(ctx, bundle); err != nil {
			return notConverted, err
		}
	}
	for _, object := range led {
		switch problem := object.problem(s.used, now); {
		case problem == nil:
		case object.definition:
			notConverted = errors.Join(notConverted, problem)
		default:
			err = errors.Join(err, problem)
		}
	}
	return notConverted, err
}

// provided reads the Secret of another program.
func (s *Server) provided(ctx context.Context, now time.Time) (certificates.Bundle, error) {
	secret, name := &corev1.Secret{}, s.Namespace+"/"+s.Secret
	err := s.live.Get(ctx, client.ObjectKey{Namespace: s.Namespace, Name: s.Secret}, secret)
	switch {
	case apierrors.IsNotFound(err):
		return nil, fmt.Errorf("there is no Secret %s: have another program provide it, with the entries ca.crt, tls.crt and tls.key for %s, "+
			"or turn the gate EnableExternalCerts off: then the manager makes its own", name, s.Name())
	case err != nil:
		return nil, fmt.Errorf("reading the Secret %s: %w", name, err)
	}
	bundle, err := certificates.External(secret.Data, s.Name(), now)
	if err != nil {
		return nil, fmt.Errorf("the Secret %s, which another program provides: %w", name, err)
	}
	return bundle, nil
}

// leads is an object by which the API server comes to the server, and what it trusts then, by the name of the webhook.
type leads struct {
	name       string
	definition bool
	webhooks   []string
	bundles    [][]byte
}

// problem says why the API server does not accept a certificate; nil if it does.
func (l leads) problem(bundle certificates.Bundle, now time.Time) error {
	var without, refusing []string
	var reason error
	for i, trusted := range l.bundles {
		if len(trusted) == 0 {
			without = append(without, l.webhooks[i])
		} else if err := (certificates.Bundle{certificates.CACert: trusted}).Refuses(bundle, now); err != nil {
			refusing, reason = append(refusing, l.webhooks[i]), err
		}
	}
	var problems []string
	if len(without) > 0 {
		problems = append(problems, fmt.Sprintf("there is no caBundle for %s", some(without)))
	}
	if len(refusing) > 0 {
		problems = append(problems, fmt.Sprintf("the caBundle for %s does not accept the certificate of the server (%v)", some(refusing), reason))
	}
	if len(problems) == 0 {
		return nil
	}
	return fmt.Errorf("%s: %s: %s", l.name, strings.Join(problems, ", and "), howToInject)
}

// some names the first of many.
func some(names []string) string {
	if len(names) > 3 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:3], ", "), len(names)-3)
	}
	return strings.Join(names, ", ")
}

// refused counts the objects that do not accept a certificate.
func refused(all []leads, bundle certificates.Bundle, now time.Time) (n int) {
	for _, object := range all {
		if object.problem(bundle, now) != nil {
			n++
		}
	}
	return n
}

// leading reads the two configurations, past any cache, and has the definitions as they were read last.
func (s *Server) leading(ctx context.Context) (all []leads, err error) {
	mutating, validating := &admissionv1.MutatingWebhookConfiguration{}, &admissionv1.ValidatingWebhookConfiguration{}
	one, two := leads{name: "MutatingWebhookConfiguration " + podwrightmanager.MutatingName}, leads{name: "ValidatingWebhookConfiguration " + podwrightmanager.ValidatingName}
	if err := s.configuration(ctx, podwrightmanager.MutatingName, one.name, mutating); err != nil {
		return nil, err
	}
	if err := s.configuration(ctx, podwrightmanager.ValidatingName, two.name, validating); err != nil {
		return nil, err
	}
	for i := range mutating.Webhooks {
		s.add(&one, mutating.Webhooks[i].Name, &mutating.Webhooks[i].ClientConfig)
	}
	for i := range validating.Webhooks {
		s.add(&two, validating.Webhooks[i].Name, &validating.Webhooks[i].ClientConfig)
	}
	all = append(all, one, two)
	for name, crd := range s.converted {
		if !converts(crd) {
			continue
		}
		config, err := conversionOf(crd)
		if err != nil {
			return nil, fmt.Errorf("CRD %s: %w", name, err)
		}
		object := leads{name: "CustomResourceDefinition " + name, definition: true}
		s.add(&object, "spec.conversion", &config)
		all = append(all, object)
	}
	return all, nil
}

func (s *Server) configuration(ctx context.Context, name, what string, object client.Object) error {
	err := s.live.Get(ctx, client.ObjectKey{Name: name}, object)
	if apierrors.IsNotFound(err) {
		return fmt.Errorf("there is no %s: apply it, or let the manager register its webhooks (--register-webhooks)", what)
	}
	return err
}

// add adds a webhook, if it leads to the server.
func (s *Server) add(l *leads, name string, config *admissionv1.WebhookClientConfig) {
	switch {
	case config.Service != nil && config.Service.Namespace == s.Namespace && config.Service.Name == s.Service:
	case config.URL != nil && s.url != "" && strings.HasPrefix(*config.URL, s.url+"/"):
	default:
		return
	}
	l.webhooks, l.bundles = append(l.webhooks, name), append(l.bundles, config.CABundle)
}

// conversionOf says how the API server asks for the conversion of a definition.
func conversionOf(crd *unstructured.Unstructured) (config admissionv1.WebhookClientConfig, err error) {
	fields, _, err := unstructured.NestedMap(crd.Object, "spec", "conversion", "webhook", "clientConfig")
	if err == nil {
		err = runtime.DefaultUnstructuredConverter.FromUnstructured(fields, &config)
	}
	return config, err
}
