/* SPDX-License-Identifier: Apache-2.0 */
/* What breaks in a view stays there: header, tabs and the other views live on. */
import { Component, type ComponentChildren } from 'preact';
import { forget } from '../data/resource';
import { Failed } from './states';

interface State {
  error: Error | null;
}

export class Boundary extends Component<{ children: ComponentChildren }, State> {
  override state: State = { error: null };

  static override getDerivedStateFromError(error: Error): State {
    return { error };
  }

  override render() {
    const { error } = this.state;
    if (error === null) return this.props.children;
    const again = (): void => {
      forget();
      this.setState({ error: null });
    };
    return <Failed error={error} onRetry={again} />;
  }
}
