// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
)

// hook is a webhook, with the first of its rules.
type hook struct {
	client admissionregistrationv1.WebhookClientConfig
	rule   admissionregistrationv1.RuleWithOperations
}

// hooks returns the registered webhooks by their URLs.
func (b *bench) hooks(ctx context.Context) (map[string]hook, error) {
	mutating, err := b.core.AdmissionregistrationV1().MutatingWebhookConfigurations().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	validating, err := b.core.AdmissionregistrationV1().ValidatingWebhookConfigurations().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	all := map[string]hook{}
	for i := range mutating.Items {
		for _, w := range mutating.Items[i].Webhooks {
			all[*w.ClientConfig.URL] = hook{w.ClientConfig, w.Rules[0]}
		}
	}
	for i := range validating.Items {
		for _, w := range validating.Items[i].Webhooks {
			all[*w.ClientConfig.URL] = hook{w.ClientConfig, w.Rules[0]}
		}
	}
	return all, nil
}

// measureWebhooks asks each webhook about objects of the cluster, as the API server does.
func (b *bench) measureWebhooks(ctx context.Context) error {
	all, err := b.hooks(ctx)
	if err != nil {
		return err
	}
	client := &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: true, // it is this machine's own
		MaxIdleConnsPerHost: b.rate,
	}}
	var worst time.Duration
	for _, url := range slices.Sorted(maps.Keys(all)) {
		reviews, err := b.reviews(ctx, all[url].rule)
		if err != nil {
			return err
		}
		path := url[strings.LastIndex(url, "/"):]
		if len(reviews) == 0 {
			b.say("%s: no object to ask about", path)
			continue
		}
		times, err := b.ask(ctx, client, url, reviews)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		worst = max(worst, percentile(times, 99))
		b.figures.add("ms", percentile(times, 50).Seconds()*1000, "p50 of %s", path)
		b.figures.add("ms", percentile(times, 99).Seconds()*1000, "p99 of %s", path)
	}
	b.figures.add("ms", worst.Seconds()*1000, "p99 of the slowest webhook")
	return nil
}

// reviews returns requests about objects that a rule is about, encoded.
func (b *bench) reviews(ctx context.Context, rule admissionregistrationv1.RuleWithOperations) (all [][]byte, err error) {
	resource, subresource, _ := strings.Cut(rule.Resources[0], "/")
	of := schema.GroupVersionResource{Group: rule.APIGroups[0], Version: rule.APIVersions[0], Resource: resource}
	var client dynamic.ResourceInterface = b.dynamic.Resource(of)
	if *rule.Scope == admissionregistrationv1.NamespacedScope {
		client = b.dynamic.Resource(of).Namespace(seed)
	}
	objects, err := client.List(ctx, metav1.ListOptions{Limit: 50})
	if err != nil {
		return nil, err
	}
	for i := range objects.Items {
		review, err := json.Marshal(reviewOf(&objects.Items[i], of, subresource, admissionv1.Operation(rule.Operations[0])))
		if err != nil {
			return nil, err
		}
		all = append(all, review)
	}
	return all, nil
}

// reviewOf returns a request about an object, as a dry run.
func reviewOf(object *unstructured.Unstructured, of schema.GroupVersionResource, subresource string, operation admissionv1.Operation) *admissionv1.AdmissionReview {
	raw := runtime.RawExtension{Object: object}
	if subresource == "eviction" {
		raw.Object = &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "policy/v1", "kind": "Eviction", "metadata": map[string]any{"name": object.GetName(), "namespace": object.GetNamespace()},
		}}
	}
	kind := raw.Object.GetObjectKind().GroupVersionKind()
	request := &admissionv1.AdmissionRequest{
		UID: types.UID(object.GetUID()), Kind: metav1.GroupVersionKind(kind), Resource: metav1.GroupVersionResource(of), SubResource: subresource,
		Name: object.GetName(), Namespace: object.GetNamespace(), Operation: operation, DryRun: new(true),
	}
	if operation != admissionv1.Delete {
		request.Object = raw
	}
	if operation != admissionv1.Create {
		request.OldObject = raw
	}
	return &admissionv1.AdmissionReview{TypeMeta: metav1.TypeMeta{APIVersion: "admission.k8s.io/v1", Kind: "AdmissionReview"}, Request: request}
}

// ask sends requests at the rate, whether or not earlier ones are answered, and returns how long each took.
func (b *bench) ask(ctx context.Context, client *http.Client, url string, reviews [][]byte) ([]time.Duration, error) {
	times := make([]time.Duration, b.requests)
	asking, ctx := errgroup.WithContext(ctx)
	tick := time.NewTicker(time.Second / time.Duration(b.rate))
	defer tick.Stop()
	for i := range times {
		<-tick.C
		asking.Go(func() error {
			begin := time.Now()
			err := post(ctx, client, url, reviews[i%len(reviews)])
			times[i] = time.Since(begin)
			return err
		})
	}
	return times, asking.Wait()
}

func post(ctx context.Context, client *http.Client, url string, review []byte) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(review))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", runtime.ContentTypeJSON)
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	var answer admissionv1.AdmissionReview
	if err := json.Unmarshal(body, &answer); err != nil || answer.Response == nil {
		return fmt.Errorf("%s: %w: %s", response.Status, err, body)
	}
	return nil
}
