// SPDX-License-Identifier: Apache-2.0

package client_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"

	"github.com/podwright/podwright/internal/typedclient/clienttest"
	"github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

func newClient(t *testing.T, config *rest.Config) *client.Client {
	t.Helper()
	c, err := client.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func cloneSet(name string) *v1alpha1.CloneSet {
	return &v1alpha1.CloneSet{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps.kruise.io/v1alpha1", Kind: "CloneSet"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "shop"},
	}
}

func TestConfig(t *testing.T) {
	create := func(c *client.Client) error {
		_, err := c.CloneSets("shop").Create(context.Background(), cloneSet("web"), metav1.CreateOptions{})
		return err
	}

	t.Run("user agent and credentials are the caller's, the content type is JSON", func(t *testing.T) {
		config, _, header := clienttest.Serve(t, http.StatusOK, cloneSet("web"))
		config.UserAgent, config.BearerToken = "shop-operator/1", "secret"
		config.ContentType, config.AcceptContentTypes = runtime.ContentTypeProtobuf, runtime.ContentTypeProtobuf
		before := rest.CopyConfig(config)
		if err := create(newClient(t, config)); err != nil {
			t.Fatal(err)
		}
		got := []string{header.Get("User-Agent"), header.Get("Authorization"), header.Get("Accept"), header.Get("Content-Type")}
		if diff := cmp.Diff([]string{"shop-operator/1", "Bearer secret", "application/json", "application/json"}, got); diff != "" {
			t.Errorf("headers (-want +got):\n%s", diff)
		}
		if config.String() != before.String() {
			t.Errorf("the caller's configuration changed from %v to %v", before, config)
		}
	})
	t.Run("an empty user agent becomes client-go's default", func(t *testing.T) {
		config, _, header := clienttest.Serve(t, http.StatusOK, cloneSet("web"))
		if err := create(newClient(t, config)); err != nil {
			t.Fatal(err)
		}
		if got := header.Get("User-Agent"); got != rest.DefaultKubernetesUserAgent() {
			t.Errorf("user agent %q, want %q", got, rest.DefaultKubernetesUserAgent())
		}
	})
	t.Run("a shared HTTP client is used", func(t *testing.T) {
		config, _, _ := clienttest.Serve(t, http.StatusOK, cloneSet("web"))
		used := false
		shared := &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
			used = true
			return http.DefaultTransport.RoundTrip(r)
		})}
		c, err := client.NewForConfigAndClient(config, shared)
		if err != nil {
			t.Fatal(err)
		}
		if err := create(c); err != nil || !used {
			t.Errorf("error %v, shared client used: %t", err, used)
		}
	})
	t.Run("a bad configuration is an error", func(t *testing.T) {
		if _, err := client.NewForConfig(&rest.Config{TLSClientConfig: rest.TLSClientConfig{CAData: []byte("x")}}); err == nil {
			t.Error("no error for a CA that is no certificate")
		}
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// The clients of all versions share one limit.
func TestRateLimit(t *testing.T) {
	for _, test := range []struct {
		name   string
		config rest.Config
		want   int // requests that are let through at once
	}{
		{"of the configuration", rest.Config{QPS: 0.001, Burst: 3}, 3},
		{"with client-go's burst", rest.Config{QPS: 0.001}, rest.DefaultBurst},
		{"the caller's own", rest.Config{RateLimiter: flowcontrol.NewTokenBucketRateLimiter(0.001, 2), QPS: 100}, 2},
		{"none", rest.Config{QPS: -1}, 40},
	} {
		t.Run(test.name, func(t *testing.T) {
			sent := 0
			counting := &http.Client{Transport: roundTripper(func(*http.Request) (*http.Response, error) {
				sent++
				return nil, errors.New("counted")
			})}
			c, err := client.NewForConfigAndClient(&test.config, counting)
			if err != nil {
				t.Fatal(err)
			}
			// What the limiter cannot let through before the deadline it refuses at once.
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			for range 20 {
				_ = c.CloneSets("shop").Delete(ctx, "web", metav1.DeleteOptions{})
				_ = c.StatefulSets("shop").Delete(ctx, "web", metav1.DeleteOptions{})
			}
			if sent != test.want {
				t.Errorf("%d requests came through, want %d", sent, test.want)
			}
		})
	}
}
