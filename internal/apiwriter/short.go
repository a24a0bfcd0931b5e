// SPDX-License-Identifier: Apache-2.0

package apiwriter

import (
	"errors"
	"fmt"
	"unicode/utf8"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// longestText is how many bytes of a text of the API server are kept. Policies list all that they find wrong. What they say
// is written into conditions and events, again with every attempt.
const longestText = 1024

// Short returns a text, and of a long one the beginning, with how long it is.
func Short(text string) string {
	if len(text) <= longestText {
		return text
	}
	end := longestText
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return fmt.Sprintf("%s… (%d bytes in all)", text[:end], len(text))
}

// short returns an error of the API server with a short text; any other is unchanged.
func short(err error) error {
	var status *apierrors.StatusError
	if !errors.As(err, &status) || len(status.ErrStatus.Message) <= longestText {
		return err
	}
	cut := *status
	cut.ErrStatus.Message = Short(cut.ErrStatus.Message)
	return &cut
}
