/** Duration of the tone in seconds, and the time in milliseconds after which the audio context is closed. */
const TONE_S = 0.2;
const AUDIO_MS = 1_000;

/** Plays a short tone. A browser without audio, or that does not allow it, stays silent. */
export function playTone(): void {
  try {
    const audio = new AudioContext();
    const tone = audio.createOscillator();
    const volume = audio.createGain();
    volume.gain.value = 0.05;
    tone.connect(volume).connect(audio.destination);
    tone.start();
    tone.stop(TONE_S);
    // A blocked tone never ends.
    setTimeout(() => void audio.close(), AUDIO_MS);
  } catch {
    // The reply is visible without the tone.
  }
}
