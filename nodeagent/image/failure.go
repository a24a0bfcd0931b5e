// SPDX-License-Identifier: Apache-2.0

package image

import (
	"encoding/base64"
	"errors"
	"net/url"
	"strings"

	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/podwright/podwright/internal/images"
)

// How long, in bytes, a message gets. It stands in the status of a NodeImage, up to one
// per task, and in events, which take a kilobyte.
const (
	mostPart    = 400
	mostMessage = 800
)

// failure is why an attempt failed, in words that may be shown: registries and
// runtimes put into their errors what they like. (IMG-3.8)
type failure struct{ parts []part }

// part is one error. If it is about the secret of a namespace, or what a
// registry answered to that, it is for the eyes of this namespace.
type part struct{ namespace, text string }

// failureOf returns what may be shown of an error: nothing of the credentials
// that were used, which may be nil.
func failureOf(namespace string, err error, used *criv1.AuthConfig) *failure {
	var f *failure
	if errors.As(err, &f) {
		return f
	}
	return &failure{[]part{{namespace, images.Cut(redacted(err.Error(), used), mostPart)}}}
}

// join adds what else has failed.
func (f *failure) join(others ...*failure) *failure {
	joined := &failure{}
	for _, other := range append([]*failure{f}, others...) {
		if other != nil {
			joined.parts = append(joined.parts, other.parts...)
		}
	}
	return joined
}

// Error is the whole: for those who may see all namespaces.
func (f *failure) Error() string { return f.text(func(part) bool { return true }) }

func (f *failure) text(show func(part) bool) string {
	var texts []string
	for _, p := range f.parts {
		if show(p) {
			texts = append(texts, p.text)
		}
	}
	return images.Cut(strings.Join(texts, "\n"), mostMessage)
}

// messageFor returns why the task failed, without what is about the secrets of
// other namespaces than that one. (IMG-3.9)
func (f *Finished) messageFor(namespace string) string {
	var why *failure
	if !errors.As(f.Err, &why) {
		return f.Message
	}
	text := why.text(func(p part) bool { return p.namespace == "" || p.namespace == namespace })
	if text == "" {
		return "the image cannot be pulled with the secrets of other namespaces that ask for it, and this one has none for it"
	}
	return text
}

// shortestSecret is the length in bytes from which on a password is looked for:
// shorter ones are part of too many words.
const shortestSecret = 4

// redacted takes away what is secret: the credentials that were used, as the registry
// may send them back, and what looks like one.
func redacted(text string, used *criv1.AuthConfig) string {
	for _, secret := range secretsOf(used) {
		if len(secret) >= shortestSecret {
			text = strings.ReplaceAll(text, secret, images.Hidden)
		}
	}
	return images.Redacted(text)
}

// secretsOf returns the forms in which a registry may send back what it was shown.
func secretsOf(used *criv1.AuthConfig) []string {
	if used == nil {
		return nil
	}
	return []string{
		base64.StdEncoding.EncodeToString([]byte(used.GetUsername() + ":" + used.GetPassword())), used.GetAuth(),
		used.GetPassword(), url.QueryEscape(used.GetPassword()), url.PathEscape(used.GetPassword()),
		used.GetIdentityToken(), used.GetRegistryToken(),
	}
}
